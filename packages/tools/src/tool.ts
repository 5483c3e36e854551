/** A named, typed side effect. What it does is reachable through an executor alone (TOOL-10). */
export interface Tool<In = unknown, Out = unknown, Name extends string = string, Args = In> {
  readonly name: Name;
  readonly description: string;
  readonly version: string | undefined;
  readonly idempotent: boolean;
  /** Types only; never present. */
  readonly types?: { readonly input: In; readonly output: Out; readonly args: Args };
}

// oxlint-disable-next-line typescript/no-explicit-any -- variance: a tool of any input is a tool
export type AnyTool = Tool<any, any, string, any>;

/** What a tool takes. */
export type ToolInput<T extends AnyTool> =
  T extends Tool<infer In, infer _Out, string, infer _Args> ? In : never;
/** What a call of it gives. */
export type ToolOutput<T extends AnyTool> =
  T extends Tool<infer _In, infer Out, string, infer _Args> ? Out : never;
