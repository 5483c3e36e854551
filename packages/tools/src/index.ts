// Tools
export { defineTool, type ResultOf, type ToolSpec } from "./define-tool.ts";
export type { AnyTool, Tool, ToolInput, ToolOutput } from "./tool.ts";
export type { InputOf, OutputOf, Schema, ValidationIssue } from "./schema.ts";
export { buildsResult, toolFacts, type ToolFacts } from "./tool-facts.ts";
export type { CallContext } from "./context.ts";
export type { Retry } from "./retry.ts";
export type { Revalidate, Revalidation } from "./tool-record.ts";

// Running them
export { Executor } from "./executor.ts";
export type { ExecutorOptions } from "./ports.ts";
export type { CallOptions } from "./call.ts";
export type { CallTrace, ToolResult } from "./result.ts";
export type { CallOrder, CallOutcome, Dispatch, RecordedCall, Spent } from "./order.ts";

// Inputs and their keys
export { inputOf, inputReader, type Digester, type InputSnapshot } from "./input.ts";
export { callIdOf, idempotencyKeyOf, type CallIdentity } from "./call-identity.ts";

// Approval rules and edits
export { gateOf, meetsRule, type Forbidden, type Gate, type GateAnswer } from "./confirm.ts";
export {
  dispatchRefusal,
  type DispatchFacts,
  type DispatchRefusal,
} from "./pipeline/dispatch-check.ts";
export { edited, editsOf, validateEdited } from "./edit.ts";

// Guards
export {
  allowedTools,
  budget,
  tally,
  type Guard,
  type GuardAnswer,
  type GuardedCall,
} from "./guard.ts";

// What is written and told
export { memoryLedger, type Ledger, type LedgerEntry } from "./ledger.ts";
export type { CallIds, Dropped, ToolEvent, ToolListener } from "./events.ts";
export { MASK, redact } from "./secret.ts";

// Errors
export { errorInfo, rebuildError, type ErrorInfo } from "./error-info.ts";
export { registerErrorClass, type ToolErrorClass } from "./error-class.ts";
export {
  isToolError,
  ToolArgumentsError,
  ToolCancelledError,
  ToolDefinitionError,
  ToolDeniedError,
  ToolDispatchError,
  ToolError,
  ToolFailedError,
  ToolGuardError,
  ToolOutputError,
  ToolTimedOutError,
  type ToolErrorCode,
  type ToolErrorInit,
} from "./errors.ts";
