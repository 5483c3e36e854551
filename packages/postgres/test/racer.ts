// A process of many clients that race for a record and a revision, a round for each line that it is told, and tells what it won.
import { createInterface } from "node:readline";

import { Pool } from "pg";

import { openPostgres } from "../src/index.ts";
import { append, entry, put } from "./record-writes.ts";

const [url = "", schema = "", name = "", clients = "1"] = process.argv.slice(2);
const pools = Array.from(
  { length: Number(clients) },
  () => new Pool({ connectionString: url, max: 1 }),
);
const stores = await Promise.all(pools.map((pool) => openPostgres(pool, { schema })));
console.log("ready");

for await (const line of createInterface(process.stdin)) {
  const round = Number(line);
  const outcomes = await Promise.all(
    stores.map(async (store, at) => {
      const client = `${name}-${at}`;
      const decided = await store.commit(`${client}-decides-${round}`, [
        put(`record-${round}`, 1, { values: { state: "decided", sealed: client } }),
        append(`record-${round}`, 2),
      ]);
      const logged = await store.commit(`${client}-logs-${round}`, [entry(round, client)]);
      return `${decided.status} ${logged.status}`;
    }),
  );
  console.log(outcomes.join(","));
}

for (const pool of pools) await pool.end();
