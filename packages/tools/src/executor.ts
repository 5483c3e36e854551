/**
 * The only thing that runs a tool.
 *
 * X1 A call goes through one fixed list of steps (TOOL-02); the first that gives an outcome ends
 *    it.
 * X2 The input was snapshot before `run` is entered, in the turn of the caller (`inputOf`).
 * X3 Arguments that fail validation reach no guard, no person and no tool.
 * X4 Nothing runs without the dispatch check, and nothing is checked after it but the caller's
 *    signal.
 * X5 Nothing is thrown but what a runner's own `prepare` or `dispatch` threw: every ending is an
 *    outcome.
 */
import type { ApprovalPort } from "@holdpoint/approvals";

import { BareOrder, type CallOptions } from "./call.ts";
import { askGuards, charge } from "./pipeline/ask-guards.ts";
import { askPerson } from "./pipeline/ask-person.ts";
import { checkApproved, dispatch, revalidate } from "./pipeline/dispatch.ts";
import { errorInfo } from "./error-info.ts";
import type { ToolListener } from "./events.ts";
import { execute } from "./pipeline/execute.ts";
import { finish } from "./pipeline/finish.ts";
import { LiveCall, type Step } from "./pipeline/live-call.ts";
import type { CallOrder, CallOutcome } from "./order.ts";
import { type ExecutorOptions, type Ports, portsFrom } from "./ports.ts";
import { errorOf, resultOf, type ToolResult } from "./result.ts";
import { begin, takeArguments } from "./pipeline/take-arguments.ts";
import type { AnyTool, ToolInput, ToolOutput } from "./tool.ts";
import { recordOf, type ToolRecord } from "./tool-record.ts";

/**
 * TOOL-02, after the snapshot and before `execute`; whatever comes of it is written down by
 * `finish`.
 */
const steps: readonly Step[] = [
  begin,
  takeArguments,
  askGuards,
  askPerson,
  (call) => (call.approval === undefined ? undefined : checkApproved(call)),
  (call) => (call.record.revalidate === undefined ? undefined : revalidate(call)),
  charge,
  dispatch,
];

export class Executor {
  readonly #ports: Ports;

  constructor(options: ExecutorOptions = {}) {
    this.#ports = portsFrom(options);
  }

  /** The way to a person that this executor takes; a runner spends what is decided there. */
  get approvals(): ApprovalPort | undefined {
    return this.#ports.approvals;
  }

  /** Tells `listener` of every call from now on; the answer ends that. */
  listen(listener: ToolListener): () => void {
    this.#ports.listeners.add(listener);
    return () => void this.#ports.listeners.delete(listener);
  }

  /**
   * Runs a tool outside any flow, with the same checks and approvals (TOOL-09).
   *
   * The input is taken at once; what the caller does to it afterwards changes nothing.
   * @throws ToolError of the class and code that say why it did not run or failed; the tool's own
   *   error classes where they are registered. @throws ApprovalPending where a person has to decide
   *   first: call again with the same `runId`.
   */
  async call<T extends AnyTool>(
    tool: T,
    input: ToolInput<T>,
    options: CallOptions = {},
  ): Promise<ToolOutput<T>> {
    const order = new BareOrder(tool, input, options, this.#ports);
    const outcome = await this.run(order);
    if (outcome.status === "ok") return outcome.value as ToolOutput<T>;
    throw errorOf(tool, order.runId, outcome);
  }

  /**
   * As `call`, with every ending as a value (TOOL-03). @throws ToolDefinitionError where `tool` is
   * none.
   */
  async tryCall<T extends AnyTool>(
    tool: T,
    input: ToolInput<T>,
    options: CallOptions = {},
  ): Promise<ToolResult<ToolOutput<T>>> {
    const order = new BareOrder(tool, input, options, this.#ports);
    return resultOf(tool, order.runId, order.input.value, await this.run(order));
  }

  /**
   * Runs a call for a runner, which makes the order and writes down what must be (`CallOrder`).
   * Outside a flow, use `call`. Rejects only with what the order's own `prepare` or `dispatch`
   * threw.
   */
  async run(order: CallOrder): Promise<CallOutcome> {
    let record: ToolRecord;
    try {
      record = recordOf(order.tool);
    } catch (thrown) {
      return { status: "failed", error: errorInfo(thrown), executed: false };
    }
    const call = new LiveCall(order, record, this.#ports);
    let outcome: CallOutcome;
    try {
      const stop = stopped(call);
      const ended = (stop instanceof Promise ? await stop : stop) ?? execute(call);
      outcome = ended instanceof Promise ? await ended : ended;
    } catch (thrown) {
      if (call.runnerFailure !== undefined) throw call.runnerFailure.thrown; // X5
      outcome = call.failed(thrown);
    }
    const finishing = finish(call, outcome);
    if (finishing !== undefined) await finishing;
    return outcome;
  }
}

/** Takes the steps, in one turn as far as none has to wait; the outcome of the one that ends the call. */
function stopped(
  call: LiveCall,
  from = 0,
): CallOutcome | undefined | Promise<CallOutcome | undefined> {
  for (let at = from; at < steps.length; at++) {
    const stop = steps[at]!(call);
    if (stop instanceof Promise) return stop.then((outcome) => outcome ?? stopped(call, at + 1));
    if (stop !== undefined) return stop;
  }
  return undefined;
}
