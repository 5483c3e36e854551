// Registries
export {
  duePlaceOf,
  orderOf,
  runKeyWrite,
  runPlaceOf,
  runStatements,
  runWrite,
  startKeyOf,
  type DuePage,
  type RunColumns,
  type RunFilter,
  type RunKeyColumns,
  type RunOrder,
  type RunPage,
  type RunPlace,
  type RunRegistry,
  type RunStatus,
} from "./registry/store.ts";
export { memoryRunRegistry } from "./registry/memory.ts";

// Leases
export {
  acquireWrite,
  fenceOf,
  leaseOf,
  releaseWrite,
  renewWrite,
  type LeasePage,
  type LeaseState,
  type LeaseStore,
} from "./lease/store.ts";
export { memoryLeaseStore } from "./lease/memory.ts";

// What is told
export {
  outboxMove,
  outboxWrite,
  putOutbox,
  type OutboxColumns,
  type OutboxStore,
} from "./outbox/store.ts";
export { memoryOutbox } from "./outbox/memory.ts";
export type { Delivery, DeliveryKind } from "./outbox/delivery.ts";
export type { NotifyPort } from "./outbox/courier.ts";

// Definitions
export {
  defineWorkflow,
  type BeginIfNeeded,
  type CheckedDocument,
  type EndIfNeeded,
  type Workflow,
  type WorkflowSpec,
} from "./definition/define.ts";
export type { Lifecycle, LifecycleOptions } from "./definition/lifecycle.ts";
export type { RetryPolicy } from "./definition/retry-policy.ts";
export { compareVersions } from "./definition/versions.ts";
export type { DocumentLimits } from "./definition/strict-json.ts";
export type { JsonSchema } from "./definition/json-schema.ts";

// Errors
export {
  InvalidInputError,
  isWorkflowError,
  SessionOwnedError,
  StartKeyTakenError,
  WorkflowError,
  type Boundary,
  type InputIssue,
  type WorkflowErrorCode,
  type WorkflowErrorData,
  type WorkflowErrorOf,
} from "./errors.ts";

// Working with them
export {
  Workflows,
  type Picked,
  type WorkflowInput,
  type WorkflowOutput,
  type WorkflowResume,
} from "./workflows.ts";
export {
  Supervisor,
  type Activation,
  type CancelTaken,
  type Readiness,
} from "./supervisor/supervisor.ts";
export type { Explanation, OpenQuestion, Why } from "./supervisor/explaining.ts";
export type { SessionStanding } from "./supervisor/sessions.ts";
export type { Shutdown } from "./supervisor/shutting-down.ts";
export type {
  AdoptMode,
  SessionsWanted,
  SupervisorOptions,
  SupervisorStore,
} from "./supervisor/wiring.ts";
export type { RunList } from "./run/reading.ts";
export type { CommonOptions, WorkflowsOptions } from "./run/options.ts";
export type { CancelHow, WorkflowStore } from "./run/parts.ts";
export type { ResumeHow, ResumeTaken } from "./run/resuming.ts";
export type { RetryHow, RetryTaken } from "./run/retrying.ts";
export type { StartOptions } from "./run/starting.ts";
export type { DecisionTaken } from "./run/deciding.ts";
export type { Adoption } from "./run/adopting.ts";
export type { Begin } from "./run/work.ts";
export type { Activity, HistoryQuery } from "./run/activity.ts";

// Runs
export type { RunView } from "./registry/run-view.ts";
export type { RunQuery } from "./registry/listing.ts";
export type { CancelRequest, Failure, RetryDue, RunRecord, WaitingFor } from "./registry/record.ts";
export { isTerminal, mayMove, mayReach, type MoveBy } from "./registry/moves.ts";

// Keeping house
export {
  Retention,
  type Purged,
  type PurgeHow,
  type RetentionOptions,
} from "./retention/retention.ts";
export { verifyExport, type ExportReport } from "./retention/verify-export.ts";
