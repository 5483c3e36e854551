/** What a run did to the world, and when, as one count of all that happens. */
export class Trace {
  readonly effects: Effect[] = [];
  /** Where in its execution's program a call stands, by the call's mark. */
  readonly places = new Map<string, Place>();
  /** From the start of a visit to its end, over all its pauses. */
  readonly visits = new Map<string, Span>();
  /** Before the paths of what nested runs did that failed. */
  readonly failed = new Set<string>();
  #now = 0;

  #tick(): number {
    return (this.#now += 1);
  }

  effect(path: string, what: string, mark: string): void {
    this.effects.push({ at: this.#tick(), path, what, mark });
  }

  began(path: string): void {
    if (!this.visits.has(path)) this.visits.set(path, { begin: this.#tick(), end: Infinity });
  }

  ended(path: string): void {
    const { begin } = this.visits.get(path) ?? { begin: this.#tick() };
    this.visits.set(path, { begin, end: this.#tick() });
  }
}

/** Steps from the whole program down to a piece: `s1` is the second of a sequence, `t1` of what runs together. */
export type Place = readonly string[];

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
