// A process that races for records and revisions on one file, and tells what it won.
import { openSqlite } from "../src/index.ts";
import { append, entry, put } from "./record-writes.ts";

const [path = "", name = "", rounds = "0", startAt = "0"] = process.argv.slice(2);

while (Date.now() < Number(startAt));
const store = openSqlite(path);
const won = { decided: [] as number[], logged: [] as number[] };

for (let round = 1; round <= Number(rounds); round += 1) {
  const decided = await store.commit(`${name}-decides-${round}`, [
    put(`record-${round}`, 1, { values: { state: "decided", sealed: name } }),
    append(`record-${round}`, 2),
  ]);
  if (decided.status === "done") won.decided.push(round);
  const logged = await store.commit(`${name}-logs-${round}`, [entry(round, name)]);
  if (logged.status === "done") won.logged.push(round);
}

store.close();
console.log(JSON.stringify(won));
