// A process that commits until it is killed, and tells of each commit once it is done.
import { writeSync } from "node:fs";

import { openSqlite } from "../src/index.ts";
import { append, entry, move, put } from "./record-writes.ts";

const [path = "", from = "1"] = process.argv.slice(2);
const store = openSqlite(path);

for (let number = Number(from); ; number += 1) {
  const outcome = await store.commit(`attempt-${number}`, [
    put(`record-${number}`, 0),
    append(`record-${number}`, 1),
    entry(number, "x".repeat(5_000)),
    move("run-1", number - 1, number),
  ]);
  if (outcome.status !== "done") throw new Error(`commit ${number} is ${outcome.status}`);
  writeSync(1, `${number}\n`);
}
