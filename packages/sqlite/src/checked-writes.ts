import type { Cell, Fence, Write } from "@holdpoint/approvals";

import { SqliteStoreError } from "./errors.ts";
import { limits } from "./limits.ts";
import { isCell } from "./prepared.ts";
import { tableByStatement, type ColumnKind, type Table } from "./tables.ts";

/** A write whose form is known to be right, on its table; a copy that its caller can't change any more. */
export interface CheckedWrite {
  readonly table: Table;
  readonly scope: string;
  readonly key: string;
  readonly expect: number | "any";
  readonly values: Readonly<Record<string, Cell>>;
  readonly before: number | null;
  readonly from: number | null;
  readonly fence: Fence | undefined;
}

// The alphabet of ids in every store: no quotes, blanks, controls or wildcards.
const idForm = /^[A-Za-z0-9._~:@#/[\]$+=,-]+$/;

/**
 * Refuses what could not be kept or given back as it is, before anything is written.
 *
 * @throws SqliteStoreError `write-invalid`
 */
export function checkedWrites(
  attemptId: string,
  writes: readonly Write[],
): readonly CheckedWrite[] {
  if (!isIdentifier(attemptId, limits.idCharactersMax)) throw invalid("an attempt id");
  if (writes.length > limits.writesMax) throw invalid(`a list of ${writes.length} writes`);
  const checked = writes.map((write) => checkedWrite(write));
  if (checked.length === 1) return checked;
  // Two writes that make one version of a row would each look like the repetition of the other.
  const made = new Set(
    checked.map(({ table, scope, key, expect }) =>
      [table.name, scope, key, expect === "any" ? 0 : expect].join("\n"),
    ),
  );
  if (made.size < checked.length) throw invalid("a list that makes one version of a row twice");
  return checked;
}

function checkedWrite(write: Write): CheckedWrite {
  const { statement, scope, key, expect, before, from, fence } = write;
  const table = tableByStatement.get(statement);
  if (table === undefined) throw invalid("a statement that this store does not know");
  if (!isIdentifier(scope, limits.idCharactersMax)) throw invalid(`a scope in ${statement}`);
  if (!isIdentifier(key, limits.keyCharactersMax)) throw invalid(`a key in ${statement}`);
  if (expect !== "any" && !isCount(expect)) throw invalid(`an expected version in ${statement}`);
  if (table.appendOnly && expect !== 0) throw invalid(`an expected version in ${statement}`);
  for (const time of [before, from]) {
    if (time !== undefined && !Number.isSafeInteger(time)) {
      throw invalid(`a time limit in ${statement}`);
    }
  }
  if (fence !== undefined && !(isName(fence.name) && isCount(fence.epoch))) {
    throw invalid(`a fence in ${statement}`);
  }
  return {
    table,
    scope,
    key,
    expect,
    values: checkedValues(write, table),
    before: before ?? null,
    from: from ?? null,
    fence: fence && { name: fence.name, epoch: fence.epoch },
  };
}

const columnsOf: ReadonlyMap<Table, readonly (readonly [string, ColumnKind])[]> = new Map(
  [...tableByStatement.values()].map((table) => [table, Object.entries(table.columns)]),
);

// A column left out would be NULL, and one too many would be lost: neither comes back as it was.
function checkedValues({ statement, values }: Write, table: Table): Record<string, Cell> {
  const copy: Record<string, Cell> = {};
  let count = 0;
  for (const [name, kind] of columnsOf.get(table)!) {
    const cell: unknown = Object.hasOwn(values, name) ? values[name] : undefined;
    if (!isCell(cell) || !isOfKind(cell, kind)) {
      throw invalid(`the column ${name} in ${statement}`);
    }
    copy[name] = cell;
    count += 1;
  }
  if (Object.keys(values).length > count) {
    throw invalid(`a column that ${statement} does not have`);
  }
  return copy;
}

function isOfKind(cell: Cell, kind: ColumnKind): boolean {
  if (cell === null) return kind.endsWith("null");
  return kind.startsWith("text") ? typeof cell === "string" : typeof cell === "number";
}

export function isIdentifier(value: unknown, charactersMax: number): boolean {
  return typeof value === "string" && value.length <= charactersMax && idForm.test(value);
}

function isName(value: unknown): boolean {
  return typeof value === "string" && isCell(value);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0 && !Object.is(value, -0);
}

export function invalid(what: string): SqliteStoreError {
  return new SqliteStoreError("write-invalid", `${what} has a form that stores do not keep`);
}
