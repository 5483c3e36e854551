/**
 * One call of one visit: what the executor does for it, and what goes on record around that (FLOW-35, FLOW-72, FLOW-76).
 *
 * K1 A call that waits on record is gated, and runs with what was shown; never with arguments validated anew.
 * K2 Nothing non-repeatable is entered before its intent is durable; an intent without an end is in doubt, and only a call
 *    that was and is idempotent is entered again by itself, with the recorded arguments and the same key; of any other a
 *    person says first what became of it.
 * K3 A decision that the port gives for a call is spent in the commit before the call runs.
 */
import {
  isApprovalError,
  sealableDecision,
  type ActorRef,
  type ApprovalRecords,
} from "@holdpoint/approvals";
import {
  callIdOf,
  idempotencyKeyOf,
  type AnyTool,
  type CallIdentity,
  type CallOrder,
  type CallOutcome,
  type Dispatch,
  type InputSnapshot,
  type RecordedCall,
  type Spent,
} from "@holdpoint/tools";

import type { MaybePromise } from "../graph/node.ts";
import { callIdentity } from "./ask.ts";
import { deniedInfo, noRecords, questionOf, settled, withoutRecords } from "./call-end.ts";
import type { CallSite, CallWay, Making } from "./call-site.ts";
import { copyOf } from "./copy.ts";
import type { Made } from "./identity.ts";
import type { Settled, SpentApproval, SpentHere, Started } from "./journal.ts";
import type { Standing } from "./scope.ts";
import { raiseDoubt } from "./doubt.ts";
import { settleDecided } from "./spend.ts";
import type { ApprovalWait } from "./wait.ts";

/** Runs a call, or continues one that stands on record. `undefined`: it waits for a person. */
export async function performCall(
  site: CallSite,
  way: CallWay,
  made: Made,
  standing: Standing,
): Promise<Settled | undefined> {
  const wait = standing.wait?.kind === "approval" ? standing.wait : undefined;
  const making = makingOf(site, way, made, { ...standing, wait });
  if (making === undefined) return undefined;
  if (wait?.foreign === true && wait.answer !== undefined) {
    const denied = await settleForeign(making, wait);
    if (denied !== undefined) return denied;
  }
  const order = new Order(making, recordedCall(making, { ...standing, wait }));
  const run = (way.executor ?? site.live.parts.executor).run(order);
  return (making.ending = run.then((outcome) => ended(making, outcome)));
}

/** What is on record of a call. */
interface OnRecord extends Pick<Standing, "started"> {
  readonly wait: ApprovalWait | undefined;
}

/** `undefined`: it waits, or has to be asked about first. */
function makingOf(
  site: CallSite,
  way: CallWay,
  made: Made,
  { started, doubt, wait }: OnRecord & Pick<Standing, "doubt">,
): Making | undefined {
  const { live, visit } = site;
  if (doubt !== undefined) return undefined; // nobody has said yet what became of it
  const { tool } = way;
  if (wait !== undefined && wait.answer === undefined) return undefined; // FLOW-30: its request stays as it is
  if (
    started !== undefined &&
    started.mayRun !== true &&
    !(started.idempotent && tool.idempotent)
  ) {
    site.prepare();
    raiseDoubt(live, visit, started, { asked: true, order: made.order }); // K2
    return undefined;
  }

  const { runId } = live.state.seed;
  // Worked out when first asked for: most calls never are, and some have no key at all.
  let known: CallIdentity | undefined;
  const identity = (): CallIdentity => (known ??= callIdentity(runId, visit, made));
  const replaced = site.replaced(made);
  const records = (way.executor === undefined ? live.parts.approvals : way.executor.approvals)
    ?.records;
  return {
    site,
    way,
    made,
    replaced,
    identity,
    callId: () => callIdOf(identity(), replaced?.generation ?? 0),
    records,
    again: started !== undefined && started.mayRun !== true,
    doubts: started?.doubts,
    approval: inRecords(way, records, answeredBy(wait) ?? started?.approval),
    left: undefined,
    ending: undefined,
  };
}

function ended(making: Making, outcome: CallOutcome): MaybePromise<Settled | undefined> {
  const { site, made, approval } = making;
  making.left?.();
  if (approval !== undefined) site.spentOn(made, { approval: withoutRecords(approval) });
  return settled(making, outcome);
}

/** A class: an object of closures, made anew for each call, costs more than all that a plain call does with it. */
class Order implements CallOrder {
  readonly tool: AnyTool;
  readonly input: InputSnapshot;
  readonly scope: string;
  readonly runId: string;
  readonly flow: string;
  readonly node: string;
  readonly requestedBy: ActorRef | undefined;
  readonly signal: AbortSignal;
  readonly recorded: RecordedCall | undefined;
  readonly spent: Spent;
  readonly #making: Making;

  constructor(making: Making, recorded: RecordedCall | undefined) {
    const { site, made, way } = making;
    const { runId, scope, flow, requestedBy } = site.live.state.seed;
    this.tool = way.tool;
    this.input = made.input!;
    this.scope = scope;
    this.runId = runId;
    this.flow = flow;
    this.node = site.visit;
    this.requestedBy = requestedBy;
    this.signal = site.signal;
    this.recorded = recorded;
    this.spent = site.live.charged;
    this.#making = making;
  }

  callId(): string {
    return this.#making.callId();
  }

  argumentKey(): string {
    return this.#making.made.key;
  }

  idempotencyKey(): string {
    return idempotencyKeyOf(this.#making.identity());
  }

  charge(cost: number): void {
    const { site, made } = this.#making;
    site.live.charge(cost);
    if (cost !== 0) site.spentOn(made, { cost });
  }

  prepare(): void {
    this.#making.site.prepare();
  }

  dispatch(dispatch: Dispatch): Promise<void> | undefined {
    return beforeExecute(this.#making, dispatch);
  }
}

/** An answer to a question that a call's own port had asked is spent in that port's store (FLOW-56). */
async function settleForeign(making: Making, wait: ApprovalWait): Promise<Settled | undefined> {
  const { site, records } = making;
  const { approvalId, argumentsDigest, callId } = wait;
  const { live, visit } = site;
  if (approvalId === undefined || !wait.recorded) return undefined;
  if (records === undefined) throw noRecords(live, visit, approvalId);
  // Spent by this very run, in a process that died in the call: it is used up for this call, and for no other.
  const stands = await records.read(live.state.seed.scope, approvalId);
  if (stands?.state === "consumed" && stands.attemptId === wait.answer!.attemptId) return undefined;
  const decision = live.brought.get(callId);
  const what = {
    visit,
    callId,
    approvalId,
    argumentsDigest,
    ...(decision !== undefined && { decision }),
  };
  try {
    making.approval = { ...(await settleDecided(live, records, what)), own: records };
    return undefined;
  } catch (error) {
    if (!isApprovalError(error, "approval-already-decided")) throw error;
    return {
      ok: false,
      error: deniedInfo(making.made.name, approvalId, "approval-already-decided", undefined, site),
    };
  }
}

/** Of a call that brings its own port, how it ended is for that port's records to hold, and for no others (FLOW-56). */
function inRecords(
  { executor }: CallWay,
  records: ApprovalRecords | undefined,
  approval: SpentApproval | undefined,
): SpentHere | undefined {
  if (approval === undefined || executor === undefined) return approval;
  const { id, decision } = approval;
  return records === undefined ? { id, decision } : { ...approval, own: records };
}

/** The decision that a resume brought for a waiting call. */
function answeredBy(wait: ApprovalWait | undefined): SpentApproval | undefined {
  if (wait?.answer === undefined) return undefined;
  const { decision, attemptId } = wait.answer;
  if (wait.approvalId === undefined) return { id: wait.callId, decision };
  return { id: wait.approvalId, decision, attemptId };
}

/** K1 */
function recordedCall(
  { site, way: { tool }, replaced }: Making,
  { wait, started }: OnRecord,
): RecordedCall | undefined {
  if (wait?.answer !== undefined) {
    return {
      arguments: site.openArguments(wait.arguments, tool),
      gated: true,
      rule: wait.facts.rule,
      ...(wait.approvalId !== undefined && { approvalId: wait.approvalId }),
      decision: wait.answer.decision,
    };
  }
  if (started === undefined || (started.approval === undefined && replaced !== undefined)) {
    if (replaced === undefined) return undefined;
    // It was gated, and what was shown stands: asked again, whatever the tool's rule says now (FLOW-35, FLOW-66).
    return {
      arguments: site.openArguments(replaced.arguments, tool),
      gated: true,
      rule: replaced.rule,
    };
  }
  const { approval } = started;
  return {
    arguments: site.openArguments(started.arguments, tool),
    started: true, // charged, and held to the time limits of its approval, when it began
    gated: approval !== undefined,
    ...(approval !== undefined && { approvalId: approval.id, decision: approval.decision }),
  };
}

/** K2, K3: the last thing before an effect. */
function beforeExecute(making: Making, dispatch: Dispatch): Promise<void> | undefined {
  const { approval } = dispatch;
  const spending =
    approval === undefined || making.approval !== undefined
      ? undefined
      : spendGiven(making, approval);
  if (spending === undefined) return enter(making, dispatch);
  // Cut off meanwhile: it is not entered, and no intent of it goes on record.
  return spending.then(() => (making.site.signal.aborted ? undefined : enter(making, dispatch)));
}

/** K3 */
function spendGiven(
  making: Making,
  { id, decision, request }: NonNullable<Dispatch["approval"]>,
): Promise<void> | undefined {
  const { site, way, records } = making;
  const { live, visit } = site;
  const callId = making.callId();
  if (id === undefined || records === undefined) {
    making.approval = { id: id ?? callId, decision: sealableDecision(decision) };
    return undefined;
  }
  const what = {
    visit,
    callId,
    approvalId: id,
    // Asked just now: what is decided on record is in `making.approval` already.
    argumentsDigest: request!.argumentsDigest,
    ...questionOf(making, request!, id),
  };
  site.spending(making.ending!); // its port was awaited, so it is known
  return settleDecided(live, records, what).then((spent) => {
    making.approval = way.executor === undefined ? spent : { ...spent, own: records };
  });
}

/** K2 */
function enter(making: Making, dispatch: Dispatch): Promise<void> | undefined {
  const { site, made, way } = making;
  const { live, visit } = site;
  const begun = (): Started => ({
    id: made,
    arguments: { form: "value", value: copyOf(dispatch.arguments) },
    idempotent: way.tool.idempotent,
    ...(making.doubts !== undefined && { doubts: making.doubts }),
    ...(making.approval !== undefined && { approval: withoutRecords(making.approval) }),
  });
  making.left = site.entering(made, way.tool, begun);
  if (!live.durable || making.again) return undefined;
  // FLOW-72: an idempotent tool whose arguments are the input as passed can be called again from the input alone.
  if (!way.tool.idempotent || dispatch.drawn) {
    const { id: call, arguments: args, idempotent, approval: by } = begun();
    live.emit({
      type: "call-started",
      visit,
      call,
      arguments: args,
      idempotent,
      ...(by && { approval: by }),
    });
  }
  return live.flush();
}
