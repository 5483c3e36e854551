// Building flows
export {
  flow,
  part,
  type CallOptions,
  type EditSchema,
  type FlowBuilder,
  type FlowOptions,
  type GateOptions,
  type MapHow,
  type Part,
  type SubflowOptions,
  type Update,
} from "./graph/define.ts";
export { flowEdits } from "./graph/edits.ts";
export type { CodeOptions, NestedFlow } from "./graph/nested.ts";
export type { ItemContext, ItemResult, MapOptions, MapResults } from "./graph/map.ts";
export {
  defineInterrupt,
  type AnswerBy,
  type AnswerInputOf,
  type AnswerOf,
  type CursorOf,
  type InfoOf,
  type Interrupt,
  type InterruptFacts,
} from "./graph/interrupt.ts";
export { END, type NodeOptions, type Retry } from "./graph/node.ts";
export { interruptFacts, type Flow, type FlowInput, type FlowState } from "./graph/flow.ts";
export type { Migration } from "./graph/migration.ts";
export type { FunctionIdentity, Manifest } from "./graph/digest.ts";
export type { AskOptions, Asking, NodeContext, Restored } from "./run/context.ts";

// Looking at them
export {
  describe,
  type FlowDescription,
  type LinkDescription,
  type NodeDescription,
} from "./draw/describe.ts";
export { toMermaid } from "./draw/mermaid.ts";
export { progressOf, type NodeProgress, type Progress } from "./draw/progress.ts";

// Running them
export {
  FlowRunner,
  type ResumeOptions,
  type RetryOptions,
  type RunOptions,
} from "./run/runner.ts";
export type { RunReading } from "./run/run-reading.ts";
export type { FlowRunnerOptions } from "./run/options.ts";
export type { NodePlan, PlanReason, ResumePlan } from "./run/resume-plan.ts";
export type { RunResult } from "./run/result.ts";
export type {
  ApprovalPending,
  InDoubtPending,
  InterruptPending,
  Pending,
  PendingView,
  SleepPending,
} from "./run/pending.ts";
export { Checkpoint, type CheckpointView } from "./checkpoint/checkpoint.ts";

// Answering
export { answer, answerJson, type Answer, type Answerer } from "./run/answer.ts";
export { inDoubt, type DoubtAnswer } from "./run/doubt-answer.ts";
export { replies, type OneReply, type Replies, type Reply } from "./run/answers.ts";
export { ApprovalAlreadyDecided, approve, deny, unverified } from "@holdpoint/approvals";

// Watching and history
export type { Answered, EventOf, RunEvent, RunEventType, Verdict } from "./run/event.ts";
export type { RunNotice } from "./run/notice.ts";
export type { Listener } from "./run/telling.ts";
export type { Logger } from "./run/parts.ts";

// Logs
export {
  appendWrite,
  logKey,
  snapshotWrite,
  type LogRow,
  type LogTail,
  type RunLog,
  type SnapshotRow,
} from "./run/log.ts";
export { memoryRunLog } from "./run/memory.ts";
export { verifyLog } from "./checkpoint/verify-log.ts";

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
