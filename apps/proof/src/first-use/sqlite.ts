// All ports on one file: a row is written by compare-and-set, stands when the file is opened again, and is lost to nobody.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isSqliteError, openSqlite } from "@holdpoint/sqlite";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-first-use-"));
const file = join(folder, "desk.db");
const first = openSqlite(file);
const write = {
  statement: "log.append",
  scope: "default",
  key: "run-1/000000000001",
  expect: 0,
  values: { run: "run-1", revision: 1, text: "sealed" },
} as const;
const done = await first.commit("attempt-1", [write]);
if (done.status !== "done") throw new Error(`the commit is ${done.status}`);
first.close();

const second = openSqlite(file);
const refused = await second.commit("attempt-2", [write]);
if (refused.status !== "refused") throw new Error("a revision was taken twice");
if ((await second.log.head("default", "run-1")) !== 1) throw new Error("the entry is gone");
second.close();

const foreign = join(folder, "notes.txt");
writeFileSync(foreign, "no database at all, and long enough not to be taken for one\n".repeat(20));
let refusal: unknown;
try {
  openSqlite(foreign);
} catch (error) {
  refusal = error;
}
if (!isSqliteError(refusal)) throw new Error("a foreign file opens");
rmSync(folder, { recursive: true });
