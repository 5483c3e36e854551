/** One thing that happened: who, what, and what became of it. */
export interface Step {
  readonly who: string;
  readonly what: string;
  readonly fate: string;
}

/** Everything that happened in a world, in order; one text for one course of events. */
export class Trace {
  readonly #steps: Step[] = [];

  get length(): number {
    return this.#steps.length;
  }

  add(who: string, what: string, fate = ""): void {
    this.#steps.push({ who, what, fate });
  }

  /** A line a step. */
  lines(): readonly string[] {
    return this.#steps.map(({ who, what, fate }, at) => {
      const number = String(at + 1).padStart(4);
      return `${number} ${who.padEnd(6)} ${what}${fate === "" ? "" : ` → ${fate}`}`;
    });
  }
}
