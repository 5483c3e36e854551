import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** One entry of a tool's code, on record before anything else happens: what the world outside saw. */
export interface Effect {
  readonly tool: string;
  /** The idempotency key that it came with. */
  readonly key: string;
  readonly runId: string;
  readonly args: string;
}

/** The world outside: a file that every process appends to and none takes anything out of. */
export class EffectLedger {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  add(effect: Effect): void {
    appendFileSync(this.#path, `${JSON.stringify(effect)}\n`, { flush: true });
  }

  of(runId: string): readonly Effect[] {
    return this.all().filter((effect) => effect.runId === runId);
  }

  all(): readonly Effect[] {
    if (!existsSync(this.#path)) return [];
    const lines = readFileSync(this.#path, "utf8").split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Effect);
  }
}
