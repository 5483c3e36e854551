/**
 * What the store costs over the same rows written and read by hand. Measured on the built package, loaded by Node itself
 * (`pnpm build` first): the test runner's own module loader makes every imported name a getter.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterAll, expect, test } from "vitest";

import { append, put, scope } from "../test/record-writes.ts";

const load = createRequire(import.meta.url);
const { openSqlite } = load("@holdpoint/sqlite") as typeof import("../src/index.ts");

const folder = mkdtempSync(join(tmpdir(), "holdpoint-bench-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const text = "x".repeat(1_000);

/** Two tables of a text by an id, as little as a durable pair of rows can be. */
function byHand() {
  const handle = new DatabaseSync(join(folder, "by-hand.db"));
  handle.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE a (id TEXT PRIMARY KEY, text TEXT); CREATE TABLE b (id TEXT PRIMARY KEY, text TEXT)`);
  const [a, b, read] = [
    handle.prepare("INSERT INTO a VALUES (?, ?)"),
    handle.prepare("INSERT INTO b VALUES (?, ?)"),
    handle.prepare("SELECT * FROM a WHERE id = ?"),
  ];
  let number = 0;
  const commit = (): void => {
    const id = `record-${(number += 1)}`;
    handle.exec("BEGIN IMMEDIATE");
    a.run(id, text);
    b.run(id, text);
    handle.exec("COMMIT");
  };
  return { commit, get: () => read.get("record-1"), close: () => handle.close() };
}

test("a commit of two rows and a read by key cost little over doing them by hand", async ({
  bench,
}) => {
  const hand = byHand();
  const store = openSqlite(join(folder, "store.db"));
  let number = 0;
  const commit = async (): Promise<void> => {
    const id = `record-${(number += 1)}`;
    const entry = { ...append(id, 1), values: { sealed: text } };
    await store.commit(`attempt-${id}`, [put(id, 0, { values: { sealed: text } }), entry]);
  };
  const [floor, ours] = [
    await bench("a commit of two rows, by hand", hand.commit).run(),
    await bench("a commit of two rows", commit).run(),
  ];
  const [readFloor, read] = [
    await bench("a read by key, by hand", () => void hand.get()).run(),
    await bench("a read by key", async () =>
      void (await store.approvals.get(scope, "record-1"))).run(),
  ];
  hand.close();
  store.close();
  // The fastest of each: on a machine that others use too, the rest tells of them.
  expect(ours.latency.min / floor.latency.min).toBeLessThan(3);
  expect(read.latency.min / readFloor.latency.min).toBeLessThan(3);
});
