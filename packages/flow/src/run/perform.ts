/**
 * Performs a run until it pauses or ends in this process.
 *
 * R1 A pause is sealed before anybody hears of it; where that fails, everything the round asked for is withdrawn, and the
 *    run fails closed (FLOW-26, FLOW-27).
 * R2 What takes a durable run out of this process's hands (a lost revision, a store that can't be reached, a call in doubt,
 *    an abort) leaves the log as it stands; everything else that goes wrong ends the run as failed. A portable run has no
 *    other place to go on from: whatever stops it ends it, and what it asked for is withdrawn.
 * R3 What is thrown says of which flow and run it is (FLOW-07).
 * R4 Before it is told that a run stopped, it is left: work of it that nobody waits for any more asks nobody from then on.
 */
import { isApprovalError } from "@holdpoint/approvals";
import { errorInfo } from "@holdpoint/tools";

import { encodeState, sealRun } from "../checkpoint/seal.ts";
import { FlowError, isFlowError } from "../errors.ts";
import { drive, type Failing } from "./drive.ts";
import { endsRun } from "./endings.ts";
import type { LiveRun, Sealed } from "./live.ts";
import { openWaits, waitsOf } from "./pending.ts";
import { rootPlace } from "./place.ts";
import { checkPure } from "./prepare.ts";
import { concludeUnused, withdrawAll, withdrawWhatCanBe } from "./spend.ts";
import type { RunState } from "./state.ts";
import { isApproval } from "./wait.ts";

/** How a process's part in a run ended, where it ended well. */
export type Performed =
  | { readonly status: "completed" }
  | {
      readonly status: "paused";
      readonly text: string;
      /** What the text says, where it is of before the run was carried over. */
      readonly sealed?: Sealed | undefined;
    };

/** @throws FlowError what ended the run, or took it out of this process's hands */
export async function perform(live: LiveRun): Promise<Performed> {
  let ended: Performed | Failing;
  try {
    ended = await pausedOrEnded(live);
  } catch (fault) {
    live.leave(fault); // R4
    if (!endsRun(fault, live)) {
      if (isFlowError(fault, "aborted")) await live.flush(); // what had finished is on record
      throw located(live, fault); // R2
    }
    ended = { status: "failing", error: fault, node: undefined };
  }
  if (ended.status !== "failing") return ended;
  const error = located(live, ended.error, ended.node);
  await recordFailure(live, { ...ended, error });
  throw error;
}

async function pausedOrEnded(live: LiveRun): Promise<Performed | Failing> {
  const driven = await drive(rootPlace(live, drive));
  switch (driven.status) {
    case "paused":
      return pause(live);
    case "completed":
      live.emit({ type: "completed" });
      await live.flush();
      return driven;
    case "failing":
      return driven;
  }
}

/** R1: encoded as it will stand before it is said that it stands. */
async function pause(live: LiveRun): Promise<Performed> {
  const { state, graph, parts } = live;
  const again = state.phase.is === "paused";
  const paused: RunState = {
    ...state,
    phase: { is: "paused" },
    revision: state.revision + (again ? 0 : 1),
  };
  const body = encodeState(paused, graph, parts);
  if (!again) checkPure(live); // what was shown is a text by now
  if (!again) live.emit({ type: "paused" });
  await live.flush();
  return { status: "paused", text: sealRun(body, paused, parts) };
}

/** What the round asked for is withdrawn in the commit that ends the run. */
async function recordFailure(live: LiveRun, failing: Failing): Promise<void> {
  const { error } = failing;
  const unsealable =
    isFlowError(error, "state-not-sealable") || isFlowError(error, "payload-not-pure");
  if (isFlowError(error, "state-not-sealable")) tellUnjournaled(live, error);
  const waits = openWaits(live.state).map(({ wait }) => wait);
  const reason = unsealable ? "state-not-sealable" : "cancelled";
  if (live.durable) await withdrawAll(live, waits, reason);
  else await withdrawWhatCanBe(live, waits, reason);
  await concludeAllUnused(live);
  live.emit({ type: "failed", error: errorInfo(failing.error), node: failing.node });
  await live.flush();
}

/** FLOW-27: the call ran, and its result can be put on no record. A durable run has said so when it happened. */
function tellUnjournaled(live: LiveRun, error: FlowError): void {
  const { node, call } = error.data;
  if (live.durable || node === undefined || typeof call !== "string") return;
  live.notice({ type: "call-unjournaled", visit: node, name: call, ok: true });
}

/** Approvals that this resume spent on visits whose code never ran: they allowed nothing (APR-21). */
async function concludeAllUnused(live: LiveRun): Promise<void> {
  for (const { path, wait } of waitsOf(live.state).filter(isApproval)) {
    const { answer, approvalId, foreign } = wait;
    if (answer?.decision.approved !== true || approvalId === undefined) continue;
    if (foreign === true || live.rerun.has(path) || wait.facts.kind === "gate") continue;
    await concludeUnused(live, { id: approvalId, ...answer });
  }
}

/** R3. A lost race for an approval stays what it is: callers know it by its own class. */
function located(live: LiveRun, error: unknown, node?: string): unknown {
  const { flow, runId } = live.state.seed;
  const where = { flow, runId, ...(node !== undefined && { node }) };
  if (isFlowError(error)) return Object.assign(error, { data: { ...where, ...error.data } });
  if (isApprovalError(error, "approval-already-decided")) return error;
  const { message } = errorInfo(error);
  if (isApprovalError(error, "store-unavailable"))
    return new FlowError(
      "store-unavailable",
      `run ${runId} lost a store: ${message}`,
      where,
      error,
    );
  return new FlowError("node-failed", `run ${runId} of '${flow}' failed: ${message}`, where, error);
}
