import type { CallContext } from "./context.ts";
import { ToolDefinitionError } from "./errors.ts";
import type { Spent } from "./order.ts";
import type { AnyTool } from "./tool.ts";

/**
 * May refuse a call before it runs (TOOL-05).
 *
 * `check` is asked before a person would be, so that nobody decides about what could not run
 * anyway. `charge` is asked once more when everything else has agreed, in one turn with the charge
 * itself: of calls that run side by side, those that the budget has no room for are refused there.
 */
export interface Guard {
  /** Named in the refusal. */
  readonly name: string;
  check(call: GuardedCall): GuardAnswer | Promise<GuardAnswer>;
  charge?(call: GuardedCall): GuardAnswer;
}

/**
 * Nothing lets the call pass; an object refuses it, with a reason for people to read, without
 * arguments.
 */
export type GuardAnswer = undefined | { readonly refuse: string };

export interface GuardedCall {
  readonly tool: AnyTool;
  /** The flow's name; absent outside one. */
  readonly flow: string | undefined;
  /** The validated arguments, secrets included: a guard is the host's own code. */
  readonly arguments: unknown;
  readonly cost: number;
  /** What the run has spent up to now; this call not included. */
  readonly spent: Spent;
  readonly context: CallContext;
}

const pass: GuardAnswer = undefined;

/** Bounds the calls, the cost, or both, of one run. A run's waits and resumes count as one run. */
export function budget(limits: { readonly calls?: number; readonly cost?: number }): Guard {
  const { calls = Infinity, cost = Infinity } = limits;
  if (!(calls >= 0 && cost >= 0)) throw invalid("budget", "bounds are numbers from 0 on");
  const check = ({ spent, cost: own }: GuardedCall): GuardAnswer => {
    if (spent.calls + 1 > calls) return { refuse: `the run's budget of ${calls} calls is used up` };
    if (spent.cost + own > cost) return { refuse: `the run's budget of cost ${cost} has no room` };
    return pass;
  };
  return { name: "budget", check, charge: check };
}

/**
 * Lets calls of these tools pass and no others; with `flow`, binds the calls of that flow alone.
 */
export function allowedTools(
  tools: readonly (AnyTool | string)[],
  where: { readonly flow?: string } = {},
): Guard {
  const names = new Set(tools.map((tool) => (typeof tool === "string" ? tool : tool.name)));
  const check = ({ tool, flow }: GuardedCall): GuardAnswer => {
    if (where.flow !== undefined && where.flow !== flow) return pass;
    return names.has(tool.name) ? pass : { refuse: `'${tool.name}' is not on the list` };
  };
  return { name: "allowed-tools", check };
}

/** What a run has spent, kept in memory: for calls outside a flow that share a budget. */
export function tally(): Spent & { charge(cost: number): void } {
  let calls = 0;
  let cost = 0;
  return {
    get calls() {
      return calls;
    },
    get cost() {
      return cost;
    },
    charge(own) {
      calls += 1;
      cost += own;
    },
  };
}

function invalid(guard: string, why: string): ToolDefinitionError {
  return new ToolDefinitionError(`the guard '${guard}' can't be: ${why}`, {
    code: "definition-invalid",
    attributes: { guard },
  });
}
