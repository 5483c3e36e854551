// Tools
export type { AnyTool, Tool } from "./tool.ts";
export type { InputSnapshot } from "./input.ts";

// Running them
export type { CallOrder, CallOutcome, Dispatch, RecordedCall, Spent } from "./order.ts";
export type { ErrorInfo } from "./error-info.ts";
