/**
 * One acquisition of one lease, from taking it to its end. What it fences are writes; what it says by itself is whether this
 * process may still begin any.
 *
 * N1 It ends once and for all: released, refused by the store, or over by this machine's clocks (WF-33). A late answer to a
 *    renewal does not revive it.
 * N2 An answer that got lost is no loss: where the row still shows this owner and epoch, the tenure goes on from that row.
 */

import type { Clock, Fence, Ids } from "@holdpoint/approvals";

import { commitKnown, reached } from "../registry/commit.ts";
import {
  acquireWrite,
  fenceOf,
  leaseOf,
  releaseWrite,
  renewWrite,
  type LeaseState,
  type LeaseStore,
} from "./store.ts";
import { elapsedMs, momentOf, phaseOf, type Moment, type TermPhase } from "./term.ts";

/** Who takes leases. */
export interface Lessee {
  readonly store: LeaseStore;
  readonly scope: string;
  /** Random for each start of a process: never a host's name, a pid or a worker's number. */
  readonly owner: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly leaseMs: number;
}

export type Acquired =
  | { readonly status: "held"; readonly tenure: Tenure }
  /** `leftMs`: until it lapses, as of the store's time right before. */
  | { readonly status: "elsewhere"; readonly stands: LeaseState; readonly leftMs: number };

export class Tenure {
  readonly #lessee: Lessee;
  #stands: LeaseState;
  #since: Moment;
  #ended = false;

  private constructor(lessee: Lessee, stands: LeaseState, since: Moment) {
    this.#lessee = lessee;
    this.#stands = stands;
    this.#since = since;
  }

  /** Takes a lease if it has lapsed. @throws WorkflowError `store-unavailable` */
  static async acquire(lessee: Lessee, name: string): Promise<Acquired> {
    const { store, scope, owner, clock, ids, leaseMs } = lessee;
    const since = momentOf(clock);
    const now = await reached(store.now());
    const stands = leaseOf(scope, name, await reached(store.get(scope, name)));
    const elsewhere = (by: LeaseState): Acquired => {
      return { status: "elsewhere", stands: by, leftMs: by.until - now };
    };
    if (stands.until > now) return elsewhere(stands);
    const until = now + leaseMs;
    const known = await commitKnown(store, ids.id(), [acquireWrite(stands, owner, until)]);
    if (known.status === "refused") {
      return elsewhere(leaseOf(scope, name, await reached(store.get(scope, name))));
    }
    const { epoch, version } = stands;
    const own = { ...stands, owner, until, epoch: epoch + 1, version: version + 1 };
    return { status: "held", tenure: new Tenure(lessee, own, since) };
  }

  get session(): string {
    return this.#stands.name;
  }

  get fence(): Fence {
    return fenceOf(this.#stands);
  }

  /** Milliseconds since the renewal that counts was started; `Infinity` once it has ended. */
  get elapsedMs(): number {
    if (this.#ended) return Infinity;
    return elapsedMs(this.#since, momentOf(this.#lessee.clock));
  }

  get phase(): TermPhase {
    return phaseOf(this.elapsedMs, this.#lessee.leaseMs);
  }

  /** Whether this process may begin a write under it. */
  get live(): boolean {
    return this.phase !== "over";
  }

  /** N1 */
  end(): void {
    this.#ended = true;
  }

  /** Lengthens it; false where it is lost. @throws WorkflowError `store-unavailable`: it stands as it was, try again */
  async renew(): Promise<boolean> {
    const { store, clock, ids, leaseMs } = this.#lessee;
    for (let tries = 0; tries < 2; tries += 1) {
      const since = momentOf(clock);
      const until = (await reached(store.now())) + leaseMs;
      const stands = this.#stands;
      const known = await commitKnown(store, ids.id(), [renewWrite(stands, until)]);
      if (known.status === "done") {
        this.#stands = { ...stands, until, version: stands.version + 1 };
        this.#since = since;
        return this.live; // not where the answer came too late to count (N1)
      }
      if (!(await this.#isOwn())) break;
    }
    this.end();
    return false;
  }

  /** Gives it back, where it has not been lost meanwhile. @throws WorkflowError `store-unavailable` */
  async release(): Promise<void> {
    const { store, ids } = this.#lessee;
    const known = await commitKnown(store, ids.id(), [releaseWrite(this.#stands)]);
    if (known.status === "refused" && (await this.#isOwn())) {
      await commitKnown(store, ids.id(), [releaseWrite(this.#stands)]);
    }
    this.end();
  }

  /** N2; then the row is what the next write goes from. */
  async #isOwn(): Promise<boolean> {
    const { store, scope, owner } = this.#lessee;
    const { name, epoch, version } = this.#stands;
    const row = leaseOf(scope, name, await reached(store.get(scope, name)));
    if (row.epoch !== epoch || row.owner !== owner || row.version === version) return false;
    this.#stands = row;
    return true;
  }
}
