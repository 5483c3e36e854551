import type { Row } from "./commit.ts";

/** Which rows of a table to read, in key order. */
export interface KeyRange {
  /** Only keys that begin so. */
  readonly prefix?: string;
  /** Only keys past this one. */
  readonly after?: string;
  /** Default: all. */
  readonly limit?: number;
}

/** The rows of one table in one scope, ordered by key (UTF-16 units, which for ids is byte order). */
export class RowTable {
  readonly #rows = new Map<string, Row>();
  /** In order, but for those that came since they were last read. */
  #keys: string[] = [];
  #fresh: string[] = [];

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  set(row: Row): void {
    if (!this.#rows.has(row.key)) this.#fresh.push(row.key);
    this.#rows.set(row.key, row);
  }

  /** The row that was taken out. */
  drop(key: string): Row | undefined {
    const row = this.#rows.get(key);
    if (row === undefined) return undefined;
    this.#order();
    this.#rows.delete(key);
    this.#keys.splice(this.#place(key), 1);
    return row;
  }

  range({ prefix = "", after, limit = Infinity }: KeyRange): readonly Row[] {
    this.#order();
    const found: Row[] = [];
    let at = this.#place(after !== undefined && after > prefix ? after : prefix);
    if (this.#keys[at] === after) at += 1;
    for (; at < this.#keys.length && found.length < limit; at += 1) {
      const key = this.#keys[at]!;
      if (!key.startsWith(prefix)) break;
      found.push(this.#rows.get(key)!);
    }
    return found;
  }

  /**
   * Most tables are written row by row and hardly ever read in order: a key put at its place moves all that come after it, in a
   * table that only grows. So keys are put there when somebody reads, a few one by one, many in one pass.
   */
  #order(): void {
    const fresh = this.#fresh;
    if (fresh.length === 0) return;
    this.#fresh = [];
    if (fresh.length <= fewKeys) {
      for (const key of fresh) this.#keys.splice(this.#place(key), 0, key);
      return;
    }
    // Two runs in order, which the sort merges in one pass.
    this.#keys = this.#keys.concat(fresh.toSorted(compare)).toSorted(compare);
  }

  /** Where a key is, or would be. */
  #place(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const fewKeys = 16;

/** No two keys of a table are one. */
function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}
