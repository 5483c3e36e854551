// Building flows
export {
  flow,
  part,
  type CallOptions,
  type EditSchema,
  type FlowBuilder,
  type FlowOptions,
  type GateOptions,
  type Part,
  type Update,
} from "./graph/define.ts";
export { flowEdits } from "./graph/edits.ts";
export { END, type NodeOptions, type Retry } from "./graph/node.ts";
export type { Flow, FlowInput, FlowState } from "./graph/flow.ts";
export type { FunctionIdentity, Manifest } from "./graph/digest.ts";
export type { NodeContext } from "./run/context.ts";

// Running them
export { FlowRunner, type ResumeOptions, type RunOptions } from "./run/runner.ts";
export type { FlowRunnerOptions } from "./run/options.ts";
export type { RunResult } from "./run/result.ts";
export type { Pending, PendingView } from "./run/pending.ts";
export { Checkpoint, type CheckpointView } from "./checkpoint/checkpoint.ts";

// Answering
export { replies, type Replies, type Reply } from "./run/answers.ts";
export { ApprovalAlreadyDecided, approve, deny, unverified } from "@holdpoint/approvals";

// Watching and history
export type { EventOf, RunEvent, RunEventType } from "./run/event.ts";
export type { RunNotice } from "./run/notice.ts";
export type { Listener } from "./run/telling.ts";
export type { Logger } from "./run/parts.ts";

// Logs
export {
  appendWrite,
  logKey,
  snapshotWrite,
  type LogRow,
  type RunLog,
  type SnapshotRow,
} from "./run/log.ts";
export { memoryRunLog } from "./run/memory.ts";

// Errors
export {
  ApprovalDenied,
  FlowError,
  GraphMismatchError,
  GraphRunExistsError,
  GraphRunMismatchError,
  GraphVersionMismatchError,
  isFlowError,
  ResumeTerminalError,
  RevisionConflictError,
  type FlowErrorCode,
  type FlowErrorData,
} from "./errors.ts";
