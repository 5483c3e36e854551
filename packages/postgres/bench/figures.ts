/**
 * What a commit costs over the same rows written by hand, and what waits beside 100,000: `node bench/figures.ts` after
 * `pnpm build`, on a server of its own that syncs. Its report is kept in `docs/reports`.
 */
import { createRequire } from "node:module";

import { Pool } from "pg";

import { startPostgres } from "../../../scripts/postgres/server.ts";
import { append, entry, move, put, scope } from "../test/record-writes.ts";
import { fill } from "../test/waiting-rows.ts";

const load = createRequire(import.meta.url);
const { openPostgres } = load("@holdpoint/postgres") as typeof import("../src/index.ts");

const times = 300;
const text = "x".repeat(1_000);

function quantiles(name: string, ms: readonly number[]): void {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(sorted.length * part)]?.toFixed(2);
  console.log(`  ${name}: fastest ${at(0)} ms, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
}

/** Works that are timed in turns, so that what else the machine does meets all of them. */
async function inTurns(
  works: Readonly<Record<string, (at: number) => Promise<unknown>>>,
): Promise<void> {
  const took = Object.entries(works).map(([name, work]) => ({ name, work, ms: [] as number[] }));
  for (let at = 0; at < times; at += 1) {
    for (const { work, ms } of took) {
      const started = performance.now();
      await work(at);
      ms.push(performance.now() - started);
    }
  }
  for (const { name, ms } of took) quantiles(name, ms);
}

async function overByHand(url: string): Promise<void> {
  const pool = new Pool({ connectionString: url });
  await pool.query("CREATE TABLE by_hand (id text PRIMARY KEY, text text)");
  const store = await openPostgres(url, { schema: "commits" });
  console.log("commits:");
  await inTurns({
    "a row, by hand, one statement": (at) =>
      pool.query({
        name: "one",
        text: "INSERT INTO by_hand VALUES ($1, $2)",
        values: [`a-${at}`, text],
      }),
    "a log entry": (at) => store.commit(`l-${at}`, [entry(1, text, `run-${at}`)]),
    "four rows, by hand, a transaction": async (at) => {
      const client = await pool.connect();
      await client.query("BEGIN");
      for (const each of [1, 2, 3, 4]) {
        await client.query({
          name: "one",
          text: "INSERT INTO by_hand VALUES ($1, $2)",
          values: [`b-${at}-${each}`, text],
        });
      }
      await client.query("COMMIT");
      client.release();
    },
    "a record, its entry, a log entry and a run": (at) =>
      store.commit(`f-${at}`, [
        put(`r-${at}`, 0, { values: { sealed: text } }),
        append(`r-${at}`, 1),
        entry(2, text, `run-${at}`),
        move(`run-${at}`, 0),
      ]),
  });
  await store.close();
  await pool.end();
}

async function beside(url: string, waiting: number): Promise<void> {
  const schema = `beside_${waiting}`;
  const pool = new Pool({ connectionString: url });
  const store = await openPostgres(url, { schema });
  if (waiting > 0) await fill(pool, schema, waiting);
  await pool.query("ANALYZE; CHECKPOINT");
  console.log(`beside ${waiting} waiting:`);
  const page = { order: "oldest", limit: 50 } as const;
  const pending = { state: "pending" } as const;
  await inTurns({
    "a run's first commit": (at) => {
      const [id, run] = [`z-${at}`, `run-z-${at}`];
      const values = { runId: run };
      return store.commit(`asks-${at}`, [
        put(id, 0, { values }),
        append(id, 1),
        entry(1, text, run),
        move(run, 0),
      ]);
    },
    "the reads and the commit of its resume": async (at) => {
      const [id, run] = [`z-${at}`, `run-z-${at}`];
      await store.approvals.get(scope, id);
      await store.log.read(scope, run, 0, 1_000);
      await store.runs.get(scope, run);
      await store.commit(`spends-${at}`, [
        put(id, 1, { values: { runId: run, state: "consumed" } }),
        append(id, 2),
        append(id, 3),
        entry(2, text, run),
        move(run, 1),
      ]);
    },
    "a page of 50 pending records": () => store.approvals.list(scope, pending, page),
    "a page of a tool that nobody waits for": () =>
      store.approvals.list(scope, { ...pending, tool: "none" }, page),
  });
  await store.close();
  await pool.end();
}

const server = await startPostgres({ sync: true });
try {
  await overByHand(server.url);
  await beside(server.url, 0);
  await beside(server.url, 100_000);
} finally {
  await server.stop();
}
