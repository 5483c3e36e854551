/**
 * Hearing of what was decided anywhere, and of times that ran out, for the sessions that this process holds.
 *
 * W1 Decisions come by the approvals' own trail from a cursor, so none is lost between two looks (WF-24). The store wakes.
 * W2 A time that runs out is found by looking, in the order of the times: no timer stands for any of them, so none is too long
 *    for a timer, and what ran out while nobody looked is found by the next look (WF-28). The store's clock decides.
 * W3 A place past which everything was looked at is not looked at again: approvals that are nobody's run here cost one look.
 */

import { placeOf, type CancelTimer, type Clock, type PagePlace } from "@holdpoint/approvals";

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

  /** Takes a run up, where this process holds its session. @throws WorkflowError `store-unavailable` */
  async heardOf(runId: string): Promise<void> {
    const opened = await trusted(this.#parts, runId);
    if (opened === undefined || isTerminal(opened.record.standing.status)) return;
    const hold = this.#sessions.of(opened.record.facts.session);
    if (hold === undefined) return;
    const atWork = hold.parts.lanes.busy(runId);
    const taken = takeUp(hold, runId);
    if (!atWork) await taken; // one that is at work finds it when it stops: nobody waits for that
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
          if (type === "approval.decided" || type === "approval.withdrawn") await this.#decided(id);
          after = cursor;
        }
      } catch {
        if (signal.aborted) return;
        logger.warn("decisions could not be followed for a moment", {});
        await pause(this.#clock, this.#pauseMs, signal);
      }
    }
  }

  async #decided(approvalId: string): Promise<void> {
    const { approvals, access } = this.#parts;
    const row = await reached(approvals.records.store.get(access.scope, approvalId));
    if (row !== undefined) await this.heardOf(String(row.values["runId"]));
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
