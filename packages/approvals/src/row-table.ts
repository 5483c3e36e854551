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
  readonly #keys: string[] = [];

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  set(row: Row): void {
    if (!this.#rows.has(row.key)) this.#keys.splice(this.#place(row.key), 0, row.key);
    this.#rows.set(row.key, row);
  }

  /** The row that was taken out. */
  drop(key: string): Row | undefined {
    const row = this.#rows.get(key);
    if (row === undefined) return undefined;
    this.#rows.delete(key);
    this.#keys.splice(this.#place(key), 1);
    return row;
  }

  range({ prefix = "", after, limit = Infinity }: KeyRange): readonly Row[] {
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
