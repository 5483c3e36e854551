/**
 * Which sessions this process holds, and which it stands by for (WF-20, WF-30).
 *
 * S1 One look at a time: two at once would each take the session that the other takes.
 * S2 A session is taken again only when what a lost hold of it had begun has come to rest.
 * S3 A lease whose owner died is looked at when it lapses, and not only when a look is due anyway. Owners that are well have renewed
 *    theirs by then.
 * S4 A look costs two statements and those of what it may take, however many sessions there are.
 */

import type { Row } from "@holdpoint/approvals";

import { SessionOwnedError, WorkflowError } from "../errors.ts";
import { leaseOf, type LeaseState } from "../lease/store.ts";
import { Tenure } from "../lease/tenure.ts";
import { pageMax } from "../limits.ts";
import { reached } from "../registry/commit.ts";
import type { Lanes } from "../run/lanes.ts";
import { Hold } from "./hold.ts";
import type { Wiring } from "./wiring.ts";

/** A session as this process stands to it. */
export type SessionStanding = { readonly session: string; readonly epoch: number } & (
  | { readonly status: "held" }
  /** Another process has it, or it was lost here: it is tried again with each look. */
  | { readonly status: "standby"; readonly until: number }
);

export class Sessions {
  readonly #wiring: Wiring;
  readonly #holds = new Map<string, Hold>();
  readonly #standby = new Map<string, SessionStanding>();
  /** When leases of others lapse, on the monotonic clock (S3). */
  readonly #lapses = new Map<string, number>();
  /** What lost holds left under way (S2). */
  readonly #resting = new Map<string, Lanes>();
  #looking: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(wiring: Wiring) {
    this.#wiring = wiring;
  }

  get holds(): readonly Hold[] {
    return [...this.#holds.values()];
  }

  get standings(): readonly SessionStanding[] {
    const held = this.holds.map(({ session, tenure }) => {
      return { session, epoch: tenure.fence.epoch, status: "held" as const };
    });
    return [...held, ...this.#standby.values()];
  }

  of(session: string | undefined): Hold | undefined {
    return session === undefined ? undefined : this.#holds.get(session);
  }

  standingOf(session: string): SessionStanding | undefined {
    return this.standings.find((standing) => standing.session === session);
  }

  /** Takes what is wanted and free; answers the holds that are new. @throws WorkflowError `store-unavailable` */
  look(): Promise<readonly Hold[]> {
    return this.#inTurn(async () => {
      const fresh: Hold[] = [];
      for (const session of await this.#lapsed()) {
        const hold = await this.#try(session);
        if (hold !== undefined) fresh.push(hold);
      }
      return fresh;
    });
  }

  /**
   * The hold of a session that its owner alone may do something with; one that is free and wanted is taken for it.
   * @throws SessionOwnedError; WorkflowError `option-invalid`, `store-unavailable`
   */
  async own(asked: string | undefined): Promise<{ readonly hold: Hold; readonly fresh: boolean }> {
    const session = asked ?? this.#onlyOne();
    const held = this.#holds.get(session);
    if (held !== undefined) {
      held.assertLive();
      return { hold: held, fresh: false };
    }
    const hold = await this.#inTurn(() => this.#try(session));
    if (hold !== undefined) return { hold, fresh: true };
    const standing = this.#holds.get(session);
    if (standing !== undefined) return { hold: standing, fresh: false };
    throw new SessionOwnedError(session, this.#standby.get(session)?.epoch ?? 0);
  }

  /** Until the first lease of another process lapses that had not at the last look (S3). */
  get lapsesInMs(): number {
    const now = this.#wiring.base.clock.monotonic();
    return Math.min(...[...this.#lapses.values()].map((at) => at - now).filter((left) => left > 0));
  }

  /** Takes no session any more. */
  close(): void {
    this.#closed = true;
  }

  #onlyOne(): string {
    const { only } = this.#wiring.wanted;
    const [first, ...others] = this.#holds.keys();
    if (only !== undefined) return only;
    if (first !== undefined && others.length === 0) return first;
    throw new WorkflowError("option-invalid", "this supervisor has several sessions: name one");
  }

  /** What is wanted and may be free. What others hold is told by the rows that a look reads anyway (S4). */
  async #lapsed(): Promise<readonly string[]> {
    const { only } = this.#wiring.wanted;
    if (only !== undefined) return [only];
    const { store, scope } = this.#wiring.lessee;
    const now = await reached(store.now()); // before the rows: none is taken for longer than it stands
    const lapsed: string[] = [];
    let after: string | undefined;
    do {
      const page = { limit: pageMax, ...(after !== undefined && { after }) };
      const rows: readonly Row[] = await reached(store.list(scope, page));
      for (const row of rows) {
        if (!this.#mayTake(row.key)) continue;
        const stands = leaseOf(scope, row.key, row);
        if (stands.until <= now) lapsed.push(row.key);
        else this.#standBy(stands, stands.until - now);
      }
      after = rows.length < pageMax ? undefined : rows.at(-1)?.key;
    } while (after !== undefined);
    return lapsed;
  }

  #mayTake(session: string): boolean {
    const { wanted } = this.#wiring;
    if (this.#closed || this.#holds.has(session) || !wanted.match(session)) return false;
    if (this.#holds.size >= wanted.max) return false;
    return (this.#resting.get(session)?.runs.length ?? 0) === 0; // S2
  }

  async #try(session: string): Promise<Hold | undefined> {
    if (!this.#mayTake(session)) return undefined;
    this.#resting.delete(session);
    const { lessee } = this.#wiring;
    const acquired = await Tenure.acquire(lessee, session);
    if (acquired.status === "elsewhere") {
      this.#standBy(acquired.stands, acquired.leftMs);
      return undefined;
    }
    const hold = new Hold(this.#wiring, acquired.tenure, (over) => this.#ended(over));
    this.#standby.delete(session);
    this.#lapses.delete(session);
    this.#holds.set(session, hold);
    return hold;
  }

  #standBy({ name: session, epoch, until }: LeaseState, leftMs: number): void {
    this.#standby.set(session, { session, status: "standby", epoch, until });
    this.#lapses.set(session, this.#wiring.lessee.clock.monotonic() + leftMs);
  }

  #ended({ session, tenure, parts }: Hold): void {
    this.#holds.delete(session);
    this.#resting.set(session, parts.lanes);
    const { epoch } = tenure.fence;
    this.#standby.set(session, { session, status: "standby", epoch, until: 0 });
  }

  // S1
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#looking.then(work, work);
    this.#looking = turn.catch(() => undefined);
    return turn;
  }
}
