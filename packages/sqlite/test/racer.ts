// A process that races for a record and a revision on one file, a round for each line that it is told, and tells what it won.
import { createInterface } from "node:readline";

import { openSqlite } from "../src/index.ts";
import { append, entry, put } from "./record-writes.ts";

const [path = "", name = ""] = process.argv.slice(2);
const store = openSqlite(path);
console.log("ready");

for await (const line of createInterface(process.stdin)) {
  const round = Number(line);
  const decided = await store.commit(`${name}-decides-${round}`, [
    put(`record-${round}`, 1, { values: { state: "decided", sealed: name } }),
    append(`record-${round}`, 2),
  ]);
  const logged = await store.commit(`${name}-logs-${round}`, [entry(round, name)]);
  console.log(`${decided.status} ${logged.status}`);
}

store.close();
