// Registries
export {
  orderOf,
  runKeyWrite,
  runPlaceOf,
  runStatements,
  runWrite,
  startKeyOf,
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

// Definitions
export {
  defineWorkflow,
  type BeginIfNeeded,
  type CheckedDocument,
  type EndIfNeeded,
  type Workflow,
  type WorkflowSpec,
} from "./definition/define.ts";
export { compareVersions } from "./definition/versions.ts";
export type { DocumentLimits } from "./definition/strict-json.ts";
export type { JsonSchema } from "./definition/json-schema.ts";

// Errors
export {
  InvalidInputError,
  isWorkflowError,
  StartKeyTakenError,
  WorkflowError,
  type Boundary,
  type InputIssue,
  type WorkflowErrorCode,
  type WorkflowErrorData,
} from "./errors.ts";
