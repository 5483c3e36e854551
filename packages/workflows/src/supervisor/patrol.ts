/**
 * The look through what waited already when a session was taken: a record may have been settled meanwhile by somebody's hand (swept once it
 * expired, taken back), and then neither a list of approvals nor what is due says so any more.
 *
 * L1 Each run is looked at once a hold, a few with each round: what is settled from then on is heard of. So looking costs the
 *    same however many wait, and nothing once all were looked at (WF-25).
 * L2 The unsealed state of a record finds; what is done goes through adoption, which believes seals alone.
 * L3 A place is passed once its page was looked through: a store that is away is asked again.
 */

import { isWorkflowError } from "../errors.ts";
import { patrolPageMax } from "../limits.ts";
import { reached } from "../registry/commit.ts";
import type { RunRecord } from "../registry/record.ts";
import { runPlaceOf, type RunPlace } from "../registry/store.ts";
import type { Parts } from "../run/parts.ts";

const order = "oldest";

export class Patrol {
  readonly #parts: Parts;
  readonly #session: string;
  #after: RunPlace | undefined;
  #isOver = false;

  constructor(parts: Parts, session: string) {
    this.#parts = parts;
    this.#session = session;
  }

  /** The next runs that wait for what is settled. @throws WorkflowError `store-unavailable` */
  async look(): Promise<readonly string[]> {
    if (this.#isOver) return [];
    const { access } = this.#parts;
    const filter = { status: "interrupted", session: this.#session } as const;
    const after = this.#after === undefined ? {} : { after: this.#after };
    const rows = await access.rows(filter, { order, limit: patrolPageMax, ...after });
    const found: string[] = [];
    for (const row of rows) {
      const record = opened(() => access.codec.open(access.scope, row).record);
      if (record !== undefined && (await this.#waitsForSettled(record))) found.push(row.key);
    }
    const last = rows.at(-1);
    this.#isOver = last === undefined || rows.length < patrolPageMax;
    this.#after = last && runPlaceOf(last, order); // L3
    return found;
  }

  // L2
  async #waitsForSettled({ waits }: RunRecord): Promise<boolean> {
    const { approvals, access } = this.#parts;
    for (const { approvalId } of waits) {
      if (approvalId === undefined) continue;
      const row = await reached(approvals.records.store.get(access.scope, approvalId));
      if (row?.values["state"] === "consumed") return true;
    }
    return false;
  }
}

/** A row that nobody can trust is set aside: whoever lists runs is told of it. */
function opened(open: () => RunRecord): RunRecord | undefined {
  try {
    return open();
  } catch (error) {
    if (!isWorkflowError(error, "record-tampered")) throw error;
    return undefined;
  }
}
