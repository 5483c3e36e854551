import { dispatchRefusal } from "./dispatch-check.ts";
import { ToolDispatchError } from "../errors.ts";
import type { LiveCall } from "./live-call.ts";
import type { CallOutcome, Dispatch } from "../order.ts";
import { issuesText } from "../schema.ts";
import { filledIn, isUnchanged, sameData } from "../same-data.ts";
import { keepsRecord, settle } from "./settle.ts";
import { cancelled, offered } from "./take-arguments.ts";

/** TOOL-12: everything that was true when the call was allowed has to be true when it runs. */
export async function checkApproved(call: LiveCall): Promise<CallOutcome | undefined> {
  const { order, ports } = call;
  const approval = call.approval!;
  if (!approval.decision.approved) return denied(call);
  if (order.signal.aborted) return cancelled(call);
  const withdrawn = offered(call);
  if (withdrawn !== undefined) return withdrawn;
  const invalid = approval.decision.edited && (await invalidEdit(call));
  if (invalid !== undefined) return invalid;
  const gate = call.gate();
  const records = ports.approvals?.records;
  const current = gate.kind === "gated" ? gate.rule.useWithinMs : undefined;
  const bounded = (approval.asked?.useWithinMs ?? current) !== undefined;
  // The clock that dated the decision is the store's, where there is one; nobody asks it for
  // nothing.
  const byStore = bounded && approval.id !== undefined && records !== undefined;
  // Two digests say no more than a comparison that found nothing.
  const same = isUnchanged(approval.copy, call.args);
  const refusal = dispatchRefusal({
    decision: approval.decision,
    asked: approval.asked,
    gate,
    requestedBy: order.requestedBy,
    used: order.recorded?.started === true,
    approved: same ? "" : call.approvedDigest(approval),
    now: byStore ? await records.store.now() : ports.clock.now(),
    running: same ? "" : call.digest(call.args),
  });
  if (refusal === undefined) return undefined;
  return refuse(call, refusal.code, refusal.why, refusal.reason);
}

/** An edit runs as it was decided, if it is what the schema could have made (APR-03). */
async function invalidEdit(call: LiveCall): Promise<CallOutcome | undefined> {
  const validated = await call.record.validateMade()?.(call.args);
  if (validated === undefined) return undefined;
  if (!validated.ok)
    return refuse(call, "edit-invalid", issuesText(validated.issues), "superseded");
  // A default would fill it in, after somebody decided about it without.
  if (!filledIn(call.args, validated.value)) return undefined;
  return refuse(call, "edit-invalid", "it lacks what the schema fills in", "superseded");
}

/** A denial is used up like an approval: it answered this call. */
async function denied(call: LiveCall): Promise<CallOutcome> {
  const { id, decision, request } = call.approval!;
  const stopped = keepsRecord(call) ? await settle(call) : undefined;
  return stopped ?? { status: "denied", decision, approvalId: id, ...(request && { request }) };
}

/** The tool's own last question, of gated and free calls alike. */
export async function revalidate(call: LiveCall): Promise<CallOutcome | undefined> {
  let answer: Awaited<ReturnType<NonNullable<typeof call.record.revalidate>>>;
  try {
    answer = await call.record.revalidate!(call.args, call.context);
  } catch (thrown) {
    const { code, message } = call.infoOf(thrown);
    answer = { code, message };
  }
  if (answer === undefined) return undefined;
  const { code, message = code } = answer;
  return refuse(call, "revalidation-refused", message, "cancelled", code);
}

/** Hands over to whoever keeps the record: the runner, else the approval's own store. */
export function dispatch(call: LiveCall): undefined | Promise<CallOutcome | undefined> {
  const { order } = call;
  if (order.dispatch === undefined) return keepsRecord(call) ? settle(call) : undefined;
  return handOver(call, new LiveDispatch(call));
}

/** Always a turn later: what a runner does side by side begins side by side, whatever it writes down for a call. */
function handOver(call: LiveCall, what: Dispatch): Promise<undefined> {
  const failed = (thrown: unknown): never => {
    call.runnerFailure = { thrown };
    throw thrown;
  };
  try {
    return Promise.resolve(call.order.dispatch!(what)).then(ignore, failed);
  } catch (thrown) {
    return failed(thrown);
  }
}

const ignore = (): undefined => undefined;

/** `drawn` costs a comparison of the arguments, which most runners of most calls never ask for. */
class LiveDispatch implements Dispatch {
  readonly #call: LiveCall;

  constructor(call: LiveCall) {
    this.#call = call;
  }

  get arguments(): unknown {
    return this.#call.args;
  }

  get drawn(): boolean {
    return !sameData(this.#call.order.input.value, this.#call.args);
  }

  get cost(): number {
    return this.#call.cost;
  }

  get approval(): NonNullable<Dispatch["approval"]> | undefined {
    const { approval } = this.#call;
    return approval && { id: approval.id, decision: approval.decision, request: approval.request };
  }
}

function refuse(
  call: LiveCall,
  code: ToolDispatchError["code"],
  why: string,
  reason: Parameters<LiveCall["refused"]>[1],
  own?: string,
): CallOutcome {
  const tool = call.record.name;
  const attributes = {
    tool,
    approvalId: call.approval?.id,
    ...(own !== undefined && { reason: own }),
  };
  const message = `the call of '${tool}' was refused right before it ran: ${why}`;
  return call.refused(new ToolDispatchError(message, { code, attributes }), reason);
}
