import type { CallOrder, Dispatch } from "../../src/index.ts";
import { type AnyTool, callIdOf, idempotencyKeyOf, inputOf } from "../../src/index.ts";

type Extras = Partial<
  Pick<CallOrder, "signal" | "recorded" | "spent" | "charge" | "prepare" | "requestedBy" | "flow">
>;

/** An order as a runner makes it, which writes down what is dispatched. */
export function orderOf(
  tool: AnyTool,
  input: unknown,
  extras: Extras & { readonly dispatch?: NonNullable<CallOrder["dispatch"]> } = {},
): CallOrder & { readonly dispatched: Dispatch[] } {
  const snapshot = inputOf(tool, input);
  const identity = () => ({
    runId: "run-1",
    node: "pay#1",
    tool: tool.name,
    key: snapshot.key(),
    number: 0,
  });
  const dispatched: Dispatch[] = [];
  return {
    tool,
    input: snapshot,
    scope: "default",
    runId: "run-1",
    node: "pay#1",
    callId: () => callIdOf(identity()),
    argumentKey: () => snapshot.key(),
    idempotencyKey: () => idempotencyKeyOf(identity()),
    requestedBy: undefined,
    signal: new AbortController().signal,
    prepare: () => undefined,
    dispatch: (what) => void dispatched.push(what),
    ...extras,
    dispatched,
  };
}
