import {
  ToolArgumentsError,
  ToolCancelledError,
  ToolDefinitionError,
  ToolDispatchError,
} from "../errors.ts";
import type { LiveCall } from "./live-call.ts";
import type { CallOutcome } from "../order.ts";
import { issuesText, type Validated } from "../schema.ts";

/** Whether the call may begin at all: nobody has given it up, and the executor has the tool. */
export function begin(call: LiveCall): CallOutcome | undefined {
  if (call.order.signal.aborted) return cancelled(call);
  return call.ports.offers === undefined ? undefined : offered(call);
}

export function offered(call: LiveCall): CallOutcome | undefined {
  if (call.ports.offers?.(call.order.tool) !== false) return undefined;
  const tool = call.record.name;
  const message = `the tool '${tool}' is not offered here any more`;
  const error = new ToolDispatchError(message, { code: "tool-withdrawn", attributes: { tool } });
  return call.refused(error, "cancelled");
}

/** The arguments: validated, or as they stand on record (FLOW-35). */
export function takeArguments(
  call: LiveCall,
): CallOutcome | undefined | Promise<CallOutcome | undefined> {
  const { recorded, input } = call.order;
  if (recorded !== undefined) {
    call.args =
      recorded.decision?.edited === undefined
        ? recorded.arguments
        : recorded.decision.edited.arguments;
    return price(call);
  }
  const validated = call.record.validateInput(input.value);
  if (validated instanceof Promise) return validated.then((result) => take(call, result));
  return take(call, validated);
}

function take(call: LiveCall, validated: Validated): CallOutcome | undefined {
  if (validated.ok) {
    call.args = validated.value;
    return price(call);
  }
  const tool = call.record.name;
  const { issues } = validated;
  return call.failed(
    new ToolArgumentsError(`the arguments of '${tool}' are not valid: ${issuesText(issues)}`, {
      code: "arguments-invalid",
      attributes: { tool, issues },
    }),
  );
}

function price(call: LiveCall): CallOutcome | undefined {
  const { cost, name } = call.record;
  if (cost === 0) return undefined;
  call.cost = typeof cost === "number" ? cost : cost(call.args);
  if (call.cost >= 0 && Number.isFinite(call.cost)) return undefined;
  return call.failed(
    new ToolDefinitionError(`the cost of a call of '${name}' is no number from 0 on`, {
      code: "definition-invalid",
      attributes: { tool: name, member: "cost" },
    }),
  );
}

export function cancelled(call: LiveCall): CallOutcome {
  const tool = call.record.name;
  const started = call.execution !== undefined;
  const error = new ToolCancelledError(`the call of '${tool}' was cancelled`, {
    code: "cancelled",
    attributes: { tool, started },
  });
  return started ? call.failed(error) : call.refused(error, "cancelled");
}
