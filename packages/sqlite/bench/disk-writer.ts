// Commits thirty times on a file, repeating what is unknown, tells each commit when it is done, and at the end what stands.
import { writeSync } from "node:fs";

import { isSqliteError, openSqlite } from "../src/index.ts";
import { append, entry, move, put, scope } from "../test/record-writes.ts";

const [path = ""] = process.argv.slice(2);
const seen: Record<string, number> = {};
const count = (what: string): void => void (seen[what] = (seen[what] ?? 0) + 1);

try {
  const store = openSqlite(path);
  const from = await store.log.head(scope, "run-1");
  for (let number = from + 1; number <= from + 30; number += 1) {
    const writes = [
      put(`record-${number}`, 0),
      append(`record-${number}`, 1),
      entry(number, "x".repeat(5_000)),
      move("run-1", number - 1, number),
    ];
    let status = "";
    for (let tries = 0; status !== "done" && tries < 5; tries += 1) {
      try {
        ({ status } = await store.commit(`attempt-${number}`, writes));
      } catch (error) {
        status = isSqliteError(error) ? `${error.code} ${error.reason}` : String(error);
      }
      count(status);
    }
    writeSync(1, `${number}\n`);
  }
  const all = { order: "oldest", limit: 1_000 } as const;
  const stands = [
    await store.log.head(scope, "run-1"),
    (await store.approvals.list(scope, {}, all)).length,
    (await store.approvals.changes(scope, 0, 1_000)).length,
    (await store.runs.get(scope, "run-1"))?.version,
  ];
  seen["whole"] = stands.every((each) => each === from + 30) ? 1 : 0;
  store.close();
} catch (error) {
  count(isSqliteError(error) ? `opening: ${error.code} ${error.reason}` : String(error));
}
console.log(JSON.stringify(seen));
