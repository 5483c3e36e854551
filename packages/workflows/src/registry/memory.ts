import { memoryHome, type MemoryHome, type Row } from "@holdpoint/approvals";

import {
  duePlaceOf,
  orderOf,
  runPlaceOf,
  startKeyOf,
  type DuePage,
  type RunFilter,
  type RunPage,
  type RunPlace,
  type RunRegistry,
} from "./store.ts";

/**
 * A registry in memory; on a given home it commits together with the other stores there. Nothing outlives the process, and
 * a page reads the rows of its scope: meant for tests and for programs of some thousand runs.
 */
export function memoryRunRegistry(home: MemoryHome = memoryHome()): RunRegistry {
  return {
    durable: false,
    home: home.home,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    get: async (scope, runId) => home.row("runs", scope, runId),
    find: async (scope, definition, key) => home.row("runKeys", scope, startKeyOf(definition, key)),
    list: async (scope, filter, page) => pageOf(home.rows("runs", scope), filter, page),
    due: async (scope, session, until, page) =>
      dueOf(home.rows("runs", scope), session, until, page),
  };
}

function pageOf(rows: readonly Row[], filter: RunFilter, page: RunPage): readonly Row[] {
  const sign = orderOf(page.order).descending ? -1 : 1;
  const place = (row: Row): RunPlace => runPlaceOf(row, page.order);
  const { after } = page;
  return rows
    .filter((row) => matches(row, filter))
    .filter((row) => after === undefined || sign * compare(place(row), after) > 0)
    .toSorted((a, b) => sign * compare(place(a), place(b)))
    .slice(0, page.limit);
}

function dueOf(
  rows: readonly Row[],
  session: string,
  until: number,
  { after, limit }: DuePage,
): readonly Row[] {
  return rows
    .filter(({ values }) => values["session"] === session && values["dueAt"] !== null)
    .filter((row) => duePlaceOf(row).value <= until)
    .filter((row) => after === undefined || compare(duePlaceOf(row), after) > 0)
    .toSorted((a, b) => compare(duePlaceOf(a), duePlaceOf(b)))
    .slice(0, limit);
}

function matches({ values }: Row, { status, definition, session }: RunFilter): boolean {
  return (
    (status === undefined || values["status"] === status) &&
    (definition === undefined || values["definition"] === definition) &&
    (session === undefined || values["session"] === session)
  );
}

function compare(a: RunPlace, b: RunPlace): number {
  if (a.value !== b.value) return a.value - b.value;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
