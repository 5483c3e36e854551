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
export class Ledger<Entry extends { readonly runId: string }> {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  add(entry: Entry): void {
    appendFileSync(this.#path, `${JSON.stringify(entry)}\n`); // a killed process loses nothing of what the system has
  }

  of(runId: string): readonly Entry[] {
    return this.#lines()
      .filter((line) => line.includes(runId))
      .map((line) => JSON.parse(line) as Entry)
      .filter((entry) => entry.runId === runId);
  }

  all(): readonly Entry[] {
    return this.#lines().map((line) => JSON.parse(line) as Entry);
  }

  #lines(): readonly string[] {
    if (!existsSync(this.#path)) return [];
    return readFileSync(this.#path, "utf8").split("\n").filter(Boolean);
  }
}
