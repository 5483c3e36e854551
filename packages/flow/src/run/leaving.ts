/**
 * What a re-run did not ask for again (FLOW-38, FLOW-41, FLOW-76).
 *
 * L1 What waited for somebody is withdrawn, and it is said; so is what waited within a nested run that nobody asks for.
 * L2 A call that had begun is in doubt like any other, wherever it was begun: the visit waits until a person has said what
 *    became of it. One of a nested run is asked about in the visit, since that run is dropped; no call of the visit's own is
 *    ever taken for it.
 */
import { rebuildError } from "@holdpoint/tools";

import { raiseDoubt } from "./doubt.ts";
import { plainIdentity } from "./identity.ts";
import type { Prior, Started } from "./journal.ts";
import type { LiveRun } from "./live.ts";
import type { ScopeEnd } from "./scope.ts";
import { conclude, withdrawAll } from "./spend.ts";
import { framesIn, ownExecutions, type OpenExecution } from "./tree.ts";
import type { Waiting } from "./wait.ts";

/** The execution that is over. */
export interface Leaving {
  readonly live: LiveRun;
  readonly visit: string;
  readonly prior: Prior;
  /** How many things its code asked for. */
  readonly asked: number;
}

/** How the execution ended, with what it left behind. */
export async function leaveBehind(at: Leaving, end: ScopeEnd): Promise<ScopeEnd> {
  const { live, visit, prior } = at;
  await leaveWaits(
    live,
    prior.unclaimedWaits().map((wait) => ({ path: visit, wait })),
  );
  const nested = prior.unclaimedNested();
  const frames = nested.flatMap((run) => framesIn(live.state, run));
  const within = frames.flatMap((frame) => frame.visits.flatMap(ownExecutions));
  const lost = [...prior.unclaimedStarted(), ...within.flatMap(begunWithin)];
  if (lost.length > 0 && end.how === "waiting") return end; // it may still be asked for
  raiseDoubts(at, lost);
  await leaveWaits(live, within.flatMap(askedWithin));
  for (const { id: call, path } of nested) live.emit({ type: "nested-dropped", visit, call, path });
  if (end.how === "waiting") return end;
  if (lost.length > 0 || prior.doubtsLeft) return { how: "waiting" };
  const refused = prior.unaskedFailure();
  return refused === undefined ? end : { how: "failed", error: rebuildError(refused) };
}

/** L2 */
function raiseDoubts({ live, visit, asked }: Leaving, lost: readonly Started[]): void {
  for (const [index, started] of lost.entries())
    raiseDoubt(live, visit, started, { asked: false, order: asked + index });
}

/** L2: calls that a nested run's execution had begun, those included that a person is being asked about. */
function begunWithin({ path, execution: { started, waits } }: OpenExecution): Started[] {
  const doubts = waits.flatMap((wait) => (wait.kind === "in-doubt" ? [wait.started] : []));
  return [...started, ...doubts].flatMap((intent) => {
    if (intent.mayRun === true) return []; // a person said that it did not run
    const id = plainIdentity(intent.id);
    return [{ ...intent, id: { ...id, key: `${path}:${id.key}` } }];
  });
}

function askedWithin({ path, execution: { waits } }: OpenExecution): Waiting[] {
  return waits.flatMap((wait) => (wait.kind === "in-doubt" ? [] : [{ path, wait }]));
}

const neither = { approvalId: undefined, answer: undefined };

/** L1 */
async function leaveWaits(live: LiveRun, waits: readonly Waiting[]): Promise<void> {
  for (const { path: visit, wait } of waits) {
    const { callId } = wait;
    const { approvalId, answer } = wait.kind === "approval" ? wait : neither;
    if (answer === undefined) {
      await withdrawAll(live, [wait], "superseded");
      live.emit({ type: "superseded", visit, callId, approvalId, again: false });
    } else {
      // Spent, and no call took it up: an approval that allowed nothing (APR-21).
      const { decision, attemptId } = answer;
      if (decision.approved && approvalId !== undefined)
        await conclude(live, { id: approvalId, decision, attemptId }, "unused");
      live.emit({ type: "answer-unused", visit, callId, approvalId });
    }
  }
}
