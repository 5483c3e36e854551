import type { Write } from "@holdpoint/approvals";
import { crashAt, type CrashMoment, type Strike } from "@holdpoint/testing";

/** Where a process is killed. */
export type KillPoint =
  | { readonly commit: number; readonly moment: CrashMoment }
  | { readonly effect: number; readonly moment: CrashMoment }
  | { readonly sealing: number };

/** What a process says of itself: each line is said before anything else happens. */
export type Told =
  | { readonly told: "commit"; readonly number: number; readonly points: readonly string[] }
  | { readonly told: "effect"; readonly number: number; readonly tool: string }
  | { readonly told: "sealing"; readonly number: number }
  | { readonly told: "started"; readonly runId: string }
  | { readonly told: "decided"; readonly approvalId: string }
  | { readonly told: "opened"; readonly calls: number; readonly state: string }
  | { readonly told: "house"; readonly faults: readonly string[] }
  | { readonly told: "verdict"; readonly key: string; readonly verdict: unknown };

const never: Strike = { before: () => undefined, after: () => undefined };

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

/** What counts and tells what a process does, and ends it where that was planned. */
export class Dying {
  readonly say: (line: Told) => void;
  /** What happens around each call of a driver. */
  strike: Strike = never;
  #point: KillPoint | undefined;
  #isTelling = false;
  readonly #counts = { commits: 0, effects: 0, sealings: 0 };

  constructor(say: (line: Told) => void) {
    this.say = say;
  }

  /** Counts from here on, and tells; with a point, dies there. */
  arm(point?: KillPoint): void {
    this.#isTelling = true;
    this.#point = point;
    Object.assign(this.#counts, { commits: 0, effects: 0, sealings: 0 });
    this.strike = point !== undefined && "commit" in point ? crashAt(point, die) : never;
  }

  disarm(): void {
    this.#isTelling = false;
    this.#point = undefined;
    this.strike = never;
  }

  commit(
    writes: readonly Write[],
    pointsOf: (writes: readonly Write[]) => readonly string[],
  ): void {
    const number = (this.#counts.commits += 1);
    if (this.#isTelling) this.say({ told: "commit", number, points: pointsOf(writes) });
  }

  /** Around a tool's own effect. */
  effect(tool: string, act: () => void): void {
    const number = (this.#counts.effects += 1);
    if (this.#isTelling) this.say({ told: "effect", number, tool });
    const point = this.#point;
    const moment =
      point !== undefined && "effect" in point && point.effect === number
        ? point.moment
        : undefined;
    if (moment === "before") die();
    act();
    if (moment === "inside") die();
    if (moment === "after") queueMicrotask(die);
  }

  sealing(): void {
    const number = (this.#counts.sealings += 1);
    if (this.#isTelling) this.say({ told: "sealing", number });
    if (this.#point !== undefined && "sealing" in this.#point && this.#point.sealing === number)
      die();
  }
}
