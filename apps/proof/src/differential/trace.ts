import type { RunNotice } from "@holdpoint/flow";

/** What a run did to the world, and when, as one count of all that happens. */
export class Trace {
  readonly effects: Effect[] = [];
  /** Where in its execution's program a call stands, by the call's mark. */
  readonly places = new Map<string, Place>();
  /** From the start of a visit to its end, over all its pauses; by its path. */
  readonly visits = new Map<string, Span & Ended>();
  /** Items of maps that ended. */
  readonly items = new Map<string, Ended>();
  /** Nested runs. */
  readonly runs = new Map<string, Ended>();
  /** Visits that waited for somebody. */
  readonly waited = new Set<string>();
  /** Of the run and of the nested ones. */
  rounds = 0;
  #now = 0;
  readonly #begun = new Map<string, string[]>();

  #tick(): number {
    return (this.#now += 1);
  }

  effect(path: string, what: string, mark: string): void {
    this.effects.push({ at: this.#tick(), path, what, mark });
  }

  /** Takes in what the run says of itself. */
  follow({ type, visit = "", name = "", ok, code }: RunNotice): void {
    const how = ok === false ? (code ?? "a failure") : "ok";
    switch (type) {
      case "run-started":
      case "routed":
        this.rounds += 1;
        return;
      case "visit-started":
        if (!this.visits.has(visit))
          this.visits.set(visit, { begin: this.#tick(), end: Infinity, how: undefined });
        return;
      case "visit-waiting":
        this.waited.add(visit);
        return;
      case "visit-finished": {
        const { begin } = this.visits.get(visit) ?? { begin: this.#tick() };
        this.visits.set(visit, { begin, end: this.#tick(), how });
        return;
      }
      case "item-finished":
      case "item-skipped":
        this.items.set(visit, { how });
        return;
      case "nested-started": {
        this.rounds += 1;
        const begun = this.#begun.get(visit) ?? [];
        const path = `${visit}/${name}.${begun.length}`; // numbered as begun, as the run does
        this.#begun.set(visit, [...begun, path]);
        this.runs.set(path, { how: undefined });
        return;
      }
      case "nested-finished": {
        // Each flow within a node has a name of its own; one that is tried again begins when the last one has ended.
        const path = this.#begun.get(visit)?.findLast((run) => run.startsWith(`${visit}/${name}.`));
        if (path !== undefined) this.runs.set(path, { how });
        return;
      }
      default: // what is journaled, asked and answered says nothing of where a run went
    }
  }
}

/** The visits and items that a path leads through, from the outermost on. */
export function unitsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.flatMap((part, index) => {
    if (index % 2 === 1) return []; // nested runs stand at odd places
    const before = parts.slice(0, index);
    const visit = [...before, part.replace(/\[.*$/u, "")].join("/");
    return part.endsWith("]") ? [visit, [...before, part].join("/")] : [visit];
  });
}

/** Steps from the whole program down to a piece: `s1` is the second of a sequence, `t1` of what runs together. */
export type Place = readonly string[];

export interface Span {
  readonly begin: number;
  readonly end: number;
}

interface Ended {
  /** `ok`, or the code of what it failed by; `undefined`: it has not ended. */
  readonly how: string | undefined;
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
