import type { Write } from "@holdpoint/approvals";

import type { PostgresStore } from "../src/index.ts";
import { append, entry, move, put, scope } from "./record-writes.ts";

/** The n-th of a row of commits that each have a row of every port. Odd ones are a statement, even ones a transaction. */
export function writesOf(number: number): readonly Write[] {
  return [
    put(`record-${number}`, 0),
    append(`record-${number}`, 1),
    ...(number % 2 === 0 ? twice(`beside-${number}`) : []),
    entry(number, "x".repeat(5_000)),
    move("run-1", number - 1, number),
  ];
}

const twice = (id: string): readonly Write[] =>
  [0, 1].map((version) => put(id, version, { values: { state: "decided" } }));

/**
 * Reads such a row of commits as the next process does: how many there are, and whether each is there whole. `again` is what
 * repeating the last one says.
 */
export async function wholeUpTo(store: PostgresStore) {
  const head = await store.log.head(scope, "run-1");
  const run = await store.runs.get(scope, "run-1");
  const page = { order: "oldest", limit: 10_000 } as const;
  const pending = await store.approvals.list(scope, { state: "pending" }, page);
  const changes = await store.approvals.changes(scope, 0, 10_000);
  const log = await store.log.read(scope, "run-1", 0, 10_000);
  const again = head === 0 ? undefined : await store.commit(`attempt-${head}`, writesOf(head));
  return {
    head,
    again,
    revisions: log.map(({ revision }) => revision),
    counts: [run?.version ?? 0, pending.length, changes.length],
  };
}
