import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startPostgres, type PostgresServer } from "../../../scripts/postgres/server.ts";
import { isPostgresError, openPostgres } from "../src/index.ts";
import { append, put, scope } from "./record-writes.ts";
import { wholeUpTo, writesOf } from "./whole-commits.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(); // one that may be ended
});
afterAll(() => server.stop());

/** Resolves once somebody listens in a schema: whoever waits there has looked before. */
async function isListenedTo(schema: string): Promise<void> {
  const behind = new Client({ connectionString: server.url });
  await behind.connect();
  const sql = "SELECT 1 FROM pg_stat_activity WHERE query = $1 AND state = 'idle'";
  const listen = `LISTEN "${schema}_changes"`;
  while ((await behind.query(sql, [listen])).rowCount === 0);
  await behind.end();
}

describe("a server that ends at once while it is committed to, and starts again", () => {
  it("STORE-07 APR-26 keeps each commit whole or not at all, and what was unknown is known by its attempt", async () => {
    const store = await openPostgres(server.url, { schema: "crashed" });
    let next = 1;
    const reasons = new Set<unknown>(["connection"]);
    for (let round = 1; round <= 5; round += 1) {
      const crash = round * 4 + (round % 3);
      let down: Promise<void> | undefined;
      for (; ; next += 1) {
        if (next % 30 === crash) down ??= server.crash();
        const outcome = await store
          .commit(`attempt-${next}`, writesOf(next))
          .catch((thrown: unknown) => {
            if (!isPostgresError(thrown, "store-unavailable")) throw thrown;
            return { status: "unavailable", reason: thrown.reason } as const;
          });
        if (outcome.status === "done") continue;
        // Which of the two is the race's; that a cut reply is `unknown` is shown where the cut is set (cut.test.ts).
        if (outcome.status === "unavailable") reasons.add(outcome.reason);
        else if (outcome.status !== "unknown") throw new Error(outcome.status);
        break;
      }
      await down;
      await expect(store.approvals.get(scope, "record-1")).rejects.toMatchObject({
        code: "store-unavailable",
        reason: "connection",
      });
      await server.start();
      const { head, again, revisions, counts } = await wholeUpTo(store);
      expect([next - 1, next]).toContain(head);
      expect(revisions).toEqual(Array.from({ length: head }, (_, at) => at + 1));
      expect(counts).toEqual([head, head, head]);
      expect(again).toEqual({ status: "done", repeated: true });
      const repeated = await store.commit(`attempt-${next}`, writesOf(next));
      expect(repeated).toEqual({ status: "done", repeated: head === next });
      next += 1;
    }
    expect([...reasons]).toEqual(["connection"]);
    await store.close();
  });

  it("STORE-07 APR-27 wakes who waited through it, by listening again", async () => {
    const store = await openPostgres(server.url, { schema: "woken" });
    const other = await openPostgres(server.url, { schema: "woken" });
    const signal = new AbortController().signal;
    const waiting = store.approvals.wait(scope, 0, signal);
    await isListenedTo("woken");
    await other.commit("one", [put("a", 0)]); // no entry: wakes nobody
    await server.crash();
    await waiting; // it can't be known any more what for
    await server.start();
    const again = store.approvals.wait(scope, 0, signal);
    await isListenedTo("woken");
    await other.commit("two", [append("a", 1)]);
    await expect(again).resolves.toBeUndefined();
    await Promise.all([store.close(), other.close()]);
  });
});
