/**
 * Hearing of what was decided anywhere, and of times that ran out, for the sessions that this process holds.
 *
 * W1 Decisions come by the approvals' own trail from a cursor, so none is lost between two looks (WF-24). The store wakes.
 * W2 A time that runs out is found by looking, in the order of the times: no timer stands for any of them, so none is too long
 *    for a timer, and what ran out while nobody looked is found by the next look (WF-28). The store's clock decides.
 * W3 A place past which everything was looked at is not looked at again: approvals that are nobody's run here cost one look.
 * W4 What was decided through this process is taken up at once; the trail, which tells of it too, goes by what became of that. An
 *    approval is decided once, so nothing else is taken for it.
 */

import { placeOf, type CancelTimer, type Clock, type PagePlace } from "@holdpoint/approvals";

import { toldMax } from "../limits.ts";
import { isTerminal } from "../registry/moves.ts";
import { reached } from "../registry/commit.ts";
import type { Parts } from "../run/parts.ts";
import type { Sessions } from "./sessions.ts";
import { approvalRows, takeUp, trusted } from "./taking-up.ts";

export class Hearing {
  readonly #parts: Parts;
  readonly #sessions: Sessions;
  readonly #clock: Clock;
  readonly #pauseMs: number;
  readonly #ended = new AbortController();
  #lookedTo: PagePlace | undefined;
  /** Approvals that were decided through this process, until the trail tells of them: whether their runs were taken up by that. */
  readonly #told = new Map<string, Promise<boolean>>();
  /** Runs that were told of, and are not in their lanes yet. */
  readonly #looks = new Map<string, Promise<void>>();

  /** `pauseMs`: before the trail is read again after its store was away. */
  constructor(
    parts: Parts,
    sessions: Sessions,
    { clock, pauseMs }: { clock: Clock; pauseMs: number },
  ) {
    this.#parts = parts;
    this.#sessions = sessions;
    this.#clock = clock;
    this.#pauseMs = pauseMs;
  }

  /** Follows decisions from now on. @throws `store-unavailable` */
  async begin(): Promise<void> {
    const { approvals, access } = this.#parts;
    void this.#follow(await reached(approvals.records.cursor(access.scope)));
  }

  end(): void {
    this.#ended.abort();
  }

  /** W2 @throws WorkflowError `store-unavailable` */
  async lookForExpired(): Promise<void> {
    const now = await reached(this.#parts.approvals.records.store.now());
    const filter = { state: "pending", expiresBefore: now + 1 } as const;
    if (now < (this.#lookedTo?.value ?? 0)) this.#lookedTo = undefined; // a clock that was put back
    let last: PagePlace | undefined;
    for await (const row of approvalRows(this.#parts, filter, "expiring", this.#lookedTo)) {
      await this.heardOf(String(row.values["runId"]));
      last = placeOf(row, "expiring");
    }
    this.#lookedTo = last ?? this.#lookedTo; // W3
  }

  /**
   * Takes a run up, where this process holds its session; whether it does, or nothing is left to do. `decided`: an approval that is,
   * of which it was heard.
   * @throws WorkflowError `store-unavailable` */
  async heardOf(runId: string, decided?: string): Promise<boolean> {
    const opened = await trusted(this.#parts, runId);
    if (opened === undefined) return false;
    if (isTerminal(opened.record.standing.status)) return true;
    const hold = this.#sessions.of(opened.record.facts.session);
    if (hold === undefined) return false;
    const atWork = hold.parts.lanes.busy(runId);
    const taken = takeUp(hold, runId, { opened, decided });
    if (!atWork) await taken; // one that is at work finds it when it stops: nobody waits for that
    return true;
  }

  /**
   * As `heardOf`, for what this process was told itself. `decided`: the approval that was decided by that; the trail tells of it
   * too, and only where its run could not be taken up now that is needed (W4).
   */
  told(runId: string, decided: string | undefined): void {
    const heard = this.heardOf(runId, decided).catch(() => false);
    const before = this.#looks.get(runId) ?? Promise.resolve();
    const look = before.then(async () => {
      await heard;
      if (this.#looks.get(runId) === look) this.#looks.delete(runId);
    });
    this.#looks.set(runId, look);
    if (decided === undefined) return;
    this.#told.set(decided, heard);
    const [oldest] = this.#told.keys();
    if (this.#told.size > toldMax && oldest !== undefined) this.#told.delete(oldest);
  }

  /** Resolves once a run that was told of is in its lane, or stays out of it; at once where it was not told of. */
  async looked(runId: string): Promise<void> {
    await this.#looks.get(runId);
  }

  /** The same for all runs. */
  async allLooked(): Promise<void> {
    while (this.#looks.size > 0) await Promise.all(this.#looks.values());
  }

  // W1
  async #follow(from: string): Promise<void> {
    const { approvals, access, logger } = this.#parts;
    const { records } = approvals;
    const { signal } = this.#ended;
    let after = from;
    while (!signal.aborted) {
      try {
        for await (const { type, id, cursor } of records.watch(access.scope, { after, signal })) {
          if (type === "approval.decided") await this.#decided(id);
          if (type === "approval.withdrawn") await this.#settled(id);
          after = cursor;
        }
      } catch {
        if (signal.aborted) return;
        logger.warn("decisions could not be followed for a moment", {});
        await pause(this.#clock, this.#pauseMs, signal);
      }
    }
  }

  // W4
  async #decided(approvalId: string): Promise<void> {
    const heard = this.#told.get(approvalId);
    this.#told.delete(approvalId);
    if ((await heard) !== true) await this.#settled(approvalId, approvalId);
  }

  async #settled(approvalId: string, decided?: string): Promise<void> {
    const { approvals, access } = this.#parts;
    const row = await reached(approvals.records.store.get(access.scope, approvalId));
    if (row !== undefined) await this.heardOf(String(row.values["runId"]), decided);
  }
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let cancel: CancelTimer = () => undefined;
    const wake = (): void => {
      cancel();
      signal.removeEventListener("abort", wake);
      resolve();
    };
    cancel = clock.timer(ms, wake);
    signal.addEventListener("abort", wake);
  });
}
