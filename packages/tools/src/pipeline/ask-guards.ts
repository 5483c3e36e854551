import { ToolGuardError } from "../errors.ts";
import type { Guard, GuardAnswer, GuardedCall } from "../guard.ts";
import type { LiveCall } from "./live-call.ts";
import type { CallOutcome } from "../order.ts";

const nothing = Object.freeze({ calls: 0, cost: 0 });

/** Guards, before anybody is asked. A call on record passed them when it was made. */
export function askGuards(
  call: LiveCall,
): CallOutcome | undefined | Promise<CallOutcome | undefined> {
  const { guards } = call.ports;
  if (guards.length === 0 || call.order.recorded !== undefined) return undefined;
  return askEach(call, guards);
}

async function askEach(call: LiveCall, guards: readonly Guard[]): Promise<CallOutcome | undefined> {
  for (const guard of guards) {
    const answer = await guard.check(guarded(call));
    if (answer !== undefined) return refusal(call, guard, answer);
  }
  return undefined;
}

/**
 * The guards' last word and the charge, in one turn: of calls side by side those beyond the budget
 * are refused here (TOOL-05). A recorded call that was never gated had been dispatched, and so
 * charged, before.
 */
export function charge(call: LiveCall): CallOutcome | undefined {
  const { order, ports, cost } = call;
  if (order.recorded?.gated === false || order.recorded?.started === true) return undefined;
  for (const guard of ports.guards) {
    const answer = guard.charge?.(guarded(call));
    if (answer !== undefined) return refusal(call, guard, answer);
  }
  order.charge?.(cost);
  return undefined;
}

function guarded({ order, args, cost, context }: LiveCall): GuardedCall {
  const { tool, flow, spent = nothing } = order;
  return { tool, flow, arguments: args, cost, spent, context };
}

function refusal(call: LiveCall, guard: Guard, { refuse }: GuardAnswer & object): CallOutcome {
  const tool = call.record.name;
  return call.refused(
    new ToolGuardError(`the guard '${guard.name}' refused a call of '${tool}': ${refuse}`, {
      code: "guard-refused",
      attributes: { tool, guard: guard.name, reason: refuse },
    }),
    "cancelled",
  );
}
