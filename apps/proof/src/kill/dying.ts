/**
 * What counts and tells what a process does, and ends it where that was planned.
 *
 * D1 A commit is found again by a write point in it and which one of those it is, not by its number among all: what a supervisor
 *    does beside the run comes now earlier, now later, and what is ready together is written together.
 * D2 `before`: nothing of a commit was asked of its store. `inside`: see `places.ts`. `after`: it stands, and nobody was told.
 */
import { AsyncLocalStorage } from "node:async_hooks";

import type { CommitOutcome } from "@holdpoint/approvals";
import type { CrashMoment, Strike } from "@holdpoint/testing";

/** Where a process is killed: around the n-th commit of a write point, the n-th effect of a tool, or in the n-th sealing. */
export type KillPoint = { readonly nth: number; readonly moment: CrashMoment } & (
  | { readonly at: "commit"; readonly of: string }
  | { readonly at: "effect"; readonly of: string }
  | { readonly at: "sealing"; readonly of: "Stamp" }
);

/** What a process says of itself: each line is said before anything else happens. */
export type Told =
  /** `nth`: of the first of its write points. */
  | { readonly told: "commit"; readonly nth: number; readonly points: readonly string[] }
  | { readonly told: "done"; readonly points: readonly string[] }
  | { readonly told: "effect"; readonly nth: number; readonly tool: string }
  | { readonly told: "sealing"; readonly nth: number }
  | { readonly told: "started"; readonly runId: string }
  | { readonly told: "decided"; readonly approvalId: string }
  | { readonly told: "cancelled" }
  | { readonly told: "opened"; readonly calls: number; readonly state: string }
  | { readonly told: "purged"; readonly commits: number }
  | { readonly told: "house"; readonly faults: readonly string[] }
  | { readonly told: "verdict"; readonly key: string; readonly verdict: unknown };

/** A commit that ends inside. */
export interface Inside {
  readonly attemptId: string;
  /** Whether a transaction was begun: then it ends at its COMMIT. */
  begun: boolean;
}

export class Dying {
  readonly say: (line: Told) => void;
  /** What happens around each call of a driver. */
  strike: Strike = { before: () => undefined, after: () => undefined };
  readonly #inside = new AsyncLocalStorage<Inside>();
  #last: Inside | undefined;
  readonly #counts = new Map<string, number>();
  #point: KillPoint | undefined;
  #isTelling = false;

  constructor(say: (line: Told) => void) {
    this.say = say;
  }

  /** Counts from here on, and tells; with a point, dies there. */
  arm(point?: KillPoint): void {
    this.#isTelling = true;
    this.#point = point;
    this.#counts.clear();
  }

  disarm(): void {
    this.#isTelling = false;
    this.#point = undefined;
    this.strike = { before: () => undefined, after: () => undefined };
  }

  /** Ends the process as nobody can prevent or notice. */
  die(): void {
    process.kill(process.pid, "SIGKILL");
  }

  /** The commit that this is asked within, where it is the one to end inside. */
  get inside(): Inside | undefined {
    return this.#inside.getStore();
  }

  /**
   * Whether these are binds of the commit to end inside. Commits that are asked for together share a transaction, so it need
   * not be one that was begun for that commit.
   */
  isInside(binds: readonly unknown[]): boolean {
    return this.#last !== undefined && binds.includes(this.#last.attemptId);
  }

  async commit(
    attemptId: string,
    pointsOf: () => readonly string[],
    work: () => Promise<CommitOutcome>,
  ): Promise<CommitOutcome> {
    if (!this.#isTelling) return work();
    const points = pointsOf();
    const counts = points.map((point) => this.#count(point));
    this.say({ told: "commit", nth: counts[0] ?? 0, points });
    const at = this.#point;
    const isHere = points.some((point, index) => isAt(at, "commit", point, counts[index]!));
    const moment = isHere ? at?.moment : undefined;
    if (moment === "before") this.die();
    const outcome = await (moment === "inside" ? this.#within(attemptId, work) : work());
    if (outcome.status === "done") this.say({ told: "done", points });
    if (moment === "after") this.die();
    return outcome;
  }

  #within<T>(attemptId: string, work: () => T): T {
    this.#last = { attemptId, begun: false };
    return this.#inside.run(this.#last, work);
  }

  /** Around a tool's own effect. */
  effect(tool: string, act: () => void): void {
    const nth = this.#count(tool);
    if (this.#isTelling) this.say({ told: "effect", nth, tool });
    const moment = isAt(this.#point, "effect", tool, nth) ? this.#point?.moment : undefined;
    if (moment === "before") this.die();
    act();
    if (moment === "inside") this.die();
    if (moment === "after") queueMicrotask(() => this.die());
  }

  sealing(): void {
    const nth = this.#count("Stamp");
    if (this.#isTelling) this.say({ told: "sealing", nth });
    if (isAt(this.#point, "sealing", "Stamp", nth)) this.die();
  }

  #count(what: string): number {
    const nth = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, nth);
    return nth;
  }
}

function isAt(point: KillPoint | undefined, at: KillPoint["at"], of: string, nth: number): boolean {
  return point?.at === at && point.of === of && point.nth === nth;
}
