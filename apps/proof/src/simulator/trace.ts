/** A text, or what makes it once somebody reads it: most worlds are never read. */
export type Said = string | (() => string);

/** One thing that happened: who, what, and what became of it. */
export interface Step {
  readonly who: string;
  readonly what: Said;
  readonly fate: string;
}

/** Everything that happened in a world, in order; one text for one course of events. */
export class Trace {
  readonly #steps: Step[] = [];

  get length(): number {
    return this.#steps.length;
  }

  add(who: string, what: Said, fate = ""): void {
    this.#steps.push({ who, what, fate });
  }

  /** A line a step. */
  lines(): readonly string[] {
    return this.#steps.map(({ who, what, fate }, at) => {
      const number = String(at + 1).padStart(4);
      const said = typeof what === "string" ? what : what();
      return `${number} ${who.padEnd(6)} ${said}${fate === "" ? "" : ` → ${fate}`}`;
    });
  }
}
