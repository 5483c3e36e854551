/**
 * Which question of a name is asked (FLOW-22): the n-th of the visit, counted in the order in which they are made.
 *
 * N1 A question that brings a cursor is the next one that was asked with that very cursor, if there is one: code that skips
 *    what is behind its cursor goes on at the question that carried it, and code that skips nothing counts as ever.
 * N2 Looking at a cursor changes no number.
 */
import type { ExecutionState, Kept } from "./journal.ts";

/** A question of an earlier execution. */
interface Asked {
  readonly number: number;
  readonly cursor: Kept | undefined;
  /** Its answer's place in the journal; none: it still waits. */
  readonly place: number | undefined;
}

/** A cursor on record, with how much of the journal lies behind it. */
export interface Restored {
  readonly cursor: Kept;
  readonly behind: number;
}

export class AskNumbers {
  readonly #asked = new Map<string, Asked[]>();
  readonly #next = new Map<string, number>();
  readonly #entries: number;
  readonly #textOf: (cursor: Kept) => string;

  /** What is on record of the visit. `textOf`: a cursor's sealed form, by which two are equal. */
  constructor(execution: ExecutionState, textOf: (cursor: Kept) => string) {
    this.#textOf = textOf;
    this.#entries = execution.journal.length;
    for (const [place, { id, cursor }] of execution.journal.entries())
      if (id.kind === "ask") this.#add(id.name, { number: id.number, cursor, place });
    for (const wait of execution.waits) {
      if (wait.kind !== "interrupt") continue;
      const { name, number } = wait.id;
      this.#add(name, { number, cursor: wait.cursor, place: undefined });
    }
    for (const asked of this.#asked.values()) asked.sort((a, b) => a.number - b.number);
  }

  /** The number of the question that is being asked. */
  take(name: string, cursor: Kept | undefined): number {
    const next = this.#next.get(name) ?? 0;
    const number = (cursor && this.#withCursor(name, next, cursor)) ?? next;
    this.#next.set(name, number + 1);
    return number;
  }

  /** The cursor of the last question of this name that brought one. */
  restored(name: string): Restored | undefined {
    const last = this.#asked.get(name)?.findLast(({ cursor }) => cursor !== undefined);
    if (last?.cursor === undefined) return undefined;
    return { cursor: last.cursor, behind: last.place ?? this.#entries };
  }

  /** N1 */
  #withCursor(name: string, from: number, cursor: Kept): number | undefined {
    const asked = this.#asked.get(name)?.filter((one) => one.number >= from) ?? [];
    if (asked.length === 0) return undefined;
    const text = this.#textOf(cursor);
    return asked.find((one) => one.cursor !== undefined && this.#textOf(one.cursor) === text)
      ?.number;
  }

  #add(name: string, asked: Asked): void {
    const all = this.#asked.get(name);
    if (all === undefined) this.#asked.set(name, [asked]);
    else all.push(asked);
  }
}
