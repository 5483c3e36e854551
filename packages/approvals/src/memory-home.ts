/**
 * Rows in memory, for any port that hands back writes: approvals, run logs, registries. What stands on one home commits
 * together (C5 in `commit.ts`). Nothing of it outlives the process.
 *
 * H1 `commit` decides and applies between two awaits: no other commit is ever seen half done (C2).
 * H2 Each write is judged against the rows as the writes before it in the list left them.
 * H3 Rows are frozen copies: a caller's object changed later reaches nothing.
 * H4 Watchers are told after all rows of a commit stand, in the order of commits; they must not throw.
 */

import { systemClock, type Clock } from "./clock.ts";
import {
  assertWrites,
  tableOf,
  versionOf,
  type CommitOutcome,
  type Committer,
  type Refusal,
  type Row,
  type Write,
} from "./commit.ts";
import { RowTable, type KeyRange } from "./row-table.ts";

/** One row that a commit set. */
export interface AppliedWrite {
  readonly table: string;
  readonly scope: string;
  readonly row: Row;
  /** What stood before. */
  readonly previous: Row | undefined;
}

/** One row that was taken out. */
export type DroppedRow = Omit<AppliedWrite, "previous">;

/** Several ports' rows in one place. */
export interface MemoryHome extends Committer {
  readonly home: MemoryHome;
  row(table: string, scope: string, key: string): Row | undefined;
  rows(table: string, scope: string, range?: KeyRange): readonly Row[];
  /** Scopes that hold a row of this table. */
  scopes(table: string): readonly string[];
  /** Takes a row out, for `memoryRemover`. */
  drop(table: string, scope: string, key: string): void;
  /** Calls `watcher` with the rows of each later commit, and `dropped` with each row taken out; the result takes both back. */
  watch(
    watcher: (applied: readonly AppliedWrite[]) => void,
    dropped?: (row: DroppedRow) => void,
  ): () => void;
}

/** An empty home. `clock` (default: the machine's) answers `now` and judges `before`. */
export function memoryHome({ clock = systemClock }: { readonly clock?: Clock } = {}): MemoryHome {
  const tables = new Map<string, Map<string, RowTable>>();
  const watchers = new Set<(applied: readonly AppliedWrite[]) => void>();
  const dropWatchers = new Set<(row: DroppedRow) => void>();

  const row = (table: string, scope: string, key: string) =>
    tables.get(table)?.get(scope)?.get(key);

  function set(applied: AppliedWrite): void {
    let scopes = tables.get(applied.table);
    if (scopes === undefined) tables.set(applied.table, (scopes = new Map()));
    let rows = scopes.get(applied.scope);
    if (rows === undefined) scopes.set(applied.scope, (rows = new RowTable()));
    rows.set(applied.row);
  }

  function commit(attemptId: string, writes: readonly Write[]): CommitOutcome {
    assertWrites(attemptId, writes);
    const judged = judge(attemptId, writes, { row, now: clock.now() });
    if (judged.status !== "applicable") return judged;
    for (const applied of judged.applied) set(applied);
    if (judged.applied.length > 0) for (const tell of watchers) tell(judged.applied); // H4
    return { status: "done", repeated: judged.repeated };
  }

  const home: MemoryHome = {
    get home() {
      return home;
    },
    now: async () => clock.now(),
    commit: async (attemptId, writes) => commit(attemptId, writes), // H1
    row,
    rows: (table, scope, range = {}) => tables.get(table)?.get(scope)?.range(range) ?? [],
    scopes: (table) => [...(tables.get(table)?.keys() ?? [])],
    drop(table, scope, key) {
      const dropped = tables.get(table)?.get(scope)?.drop(key);
      if (dropped !== undefined)
        for (const tell of dropWatchers) tell({ table, scope, row: dropped });
    },
    watch(watcher, dropped) {
      watchers.add(watcher);
      if (dropped !== undefined) dropWatchers.add(dropped);
      return () => {
        watchers.delete(watcher);
        if (dropped !== undefined) dropWatchers.delete(dropped);
      };
    },
  };
  return home;
}

/** What a commit is judged against. */
interface Standing {
  row(table: string, scope: string, key: string): Row | undefined;
  readonly now: number;
}

type Judged =
  | {
      readonly status: "applicable";
      readonly applied: readonly AppliedWrite[];
      readonly repeated: boolean;
    }
  | { readonly status: "refused"; readonly write: number; readonly refusal: Refusal };

function judge(attemptId: string, writes: readonly Write[], standing: Standing): Judged {
  const staged = new Map<string, AppliedWrite>();
  const applied: AppliedWrite[] = [];
  let own = 0;
  let refused: (Judged & { readonly status: "refused" }) | undefined;
  const row = (table: string, scope: string, key: string): Row | undefined =>
    staged.get(placeIn(table, scope, key))?.row ?? standing.row(table, scope, key); // H2
  for (const [at, write] of writes.entries()) {
    const table = tableOf(write.statement);
    const stands = row(table, write.scope, write.key);
    if (isOwn(attemptId, write, stands)) {
      own += 1;
      continue;
    }
    if (write.expect === "any" && stands !== undefined) continue;
    const refusal = refusalOf(write, stands, { row, now: standing.now });
    if (refusal !== undefined) {
      refused ??= { status: "refused", write: at, refusal };
      continue;
    }
    const next = {
      table,
      scope: write.scope,
      row: rowAfter(attemptId, write, stands),
      previous: stands,
    };
    staged.set(placeIn(table, write.scope, write.key), next);
    applied.push(next);
  }
  // C7: all of the attempt was applied; what refuses or is missing now has moved on since, or is another list's.
  if (own > 0) return { status: "applicable", applied: [], repeated: true };
  return refused ?? { status: "applicable", applied, repeated: false };
}

/** C3: the version that this write makes is there, and this attempt made it. */
function isOwn(attemptId: string, write: Write, stands: Row | undefined): boolean {
  if (stands?.attempt !== attemptId) return false;
  return stands.version === (write.expect === "any" ? 1 : write.expect + 1);
}

// C6: version, fence, time.
function refusalOf(write: Write, stands: Row | undefined, at: Standing): Refusal | undefined {
  const version = versionOf(stands);
  if (write.expect !== "any" && version !== write.expect) return { because: "version", stands };
  if (write.fence !== undefined) {
    const epoch = Number(at.row("leases", write.scope, write.fence.name)?.values["epoch"] ?? 0);
    if (epoch > write.fence.epoch) return { because: "fenced", epoch };
  }
  if (write.before !== undefined && at.now >= write.before) return { because: "late", now: at.now };
  if (write.from !== undefined && at.now < write.from) return { because: "early", now: at.now };
  return undefined;
}

/** A row's place as one text; no part of it can hold a line break. */
function placeIn(table: string, scope: string, key: string): string {
  return `${table}\n${scope}\n${key}`;
}

// H3
function rowAfter(attemptId: string, write: Write, stands: Row | undefined): Row {
  return Object.freeze({
    key: write.key,
    version: versionOf(stands) + 1,
    attempt: attemptId,
    values: Object.freeze({ ...write.values }),
  });
}
