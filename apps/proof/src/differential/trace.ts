/** What a run did to the world, and when, as one count of all that happens. */
export class Trace {
  readonly effects: Effect[] = [];
  /** From where the code made a call to where it got its outcome, by the call's mark. */
  readonly calls = new Map<string, Span>();
  /** From the start of a visit to its end, over all its pauses. */
  readonly visits = new Map<string, Span>();
  #now = 0;

  tick(): number {
    return (this.#now += 1);
  }

  effect(path: string, what: string, mark: string): void {
    this.effects.push({ at: this.tick(), path, what, mark });
  }

  /** The end of a call that began at `begin`. A re-run gets it again; the first time is the one that counts. */
  got(mark: string, begin: number): void {
    if (!this.calls.has(mark)) this.calls.set(mark, { begin, end: this.tick() });
  }

  began(path: string): void {
    if (!this.visits.has(path)) this.visits.set(path, { begin: this.tick(), end: Infinity });
  }

  ended(path: string): void {
    const { begin } = this.visits.get(path) ?? { begin: this.tick() };
    this.visits.set(path, { begin, end: this.tick() });
  }
}

export interface Span {
  readonly begin: number;
  readonly end: number;
}

export interface Effect {
  readonly at: number;
  /** The execution that caused it. */
  readonly path: string;
  readonly what: string;
  /** The call, the same in every run of the flow; empty where an input was drawn by chance. */
  readonly mark: string;
}

/** A short text of a longer one (FNV-1a). */
export function shortOf(text: string): string {
  return numberOf(text).toString(36);
}

/** A number of a text, the same everywhere. */
export function numberOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
