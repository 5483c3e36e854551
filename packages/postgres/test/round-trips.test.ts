// How often a store goes to its server, and what waits for the disk: each way there and back costs both machines their time.
import { systemClock } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { openPostgres } from "../src/index.ts";
import type { PostgresPool, PostgresQuery, PostgresResult } from "../src/pool.ts";
import { behind, place, url } from "./place.ts";
import { append, scope } from "./record-writes.ts";
import { watchedPool } from "./watched-pool.ts";

const forever = new AbortController().signal;
/** None fires: nobody looks because time has passed. */
const timers = { ...systemClock, timer: () => () => undefined };

describe("one who waits for changes", () => {
  it("STORE-04 APR-27 is woken by a commit of its own process, without a look", async () => {
    const pool = watchedPool(url);
    const store = await openPostgres(pool, { schema: place(), behindPooler: true, timers });
    const woken: string[] = [];
    const wait = async (of: string) => {
      await store.approvals.wait(of, 0, forever);
      woken.push(of);
    };
    const waits = [wait(scope), wait("other")];
    while (pool.calls.filter(({ query }) => query.text.includes("wanted.scope")).length < 2) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    pool.reset();
    await store.commit("one", [append("a", 1)]);
    await waits[0];
    expect(woken).toEqual([scope]);
    expect(pool.calls.map(({ verb }) => verb)).toEqual(["WITH s"]);
    await store.close();
    await waits[1];
    await pool.real.end();
  });
});

describe("an announcement", () => {
  it("STORE-04 STORE-14 waits for no disk, and leaves the next statement to wait", async () => {
    const syncs: string[] = [];
    let tell: () => void = () => undefined;
    const told = new Promise<void>((resolve) => (tell = resolve));
    const pool = announcementsIn(async (client, query) => {
      const setting = async (): Promise<void> => {
        const { rows } = await client.query({ text: "SHOW synchronous_commit", values: [] });
        syncs.push((rows[0] as { synchronous_commit: string }).synchronous_commit);
      };
      await client.query({ text: "BEGIN", values: [] });
      const result = await client.query(query);
      await setting();
      await client.query({ text: "COMMIT", values: [] });
      await setting();
      tell();
      return result;
    });
    const store = await openPostgres(pool, { schema: place() });
    const stop = new AbortController();
    const waiting = store.approvals.wait(scope, 0, stop.signal); // announcements are for those who wait
    await store.commit("one", [append("a", 1)]);
    await told;
    expect(syncs).toEqual(["off", "on"]);
    stop.abort();
    await waiting;
    await store.close();
  });
});

type Client = Awaited<ReturnType<PostgresPool["connect"]>>;

/** A pool that has its announcements sent by `send`. */
function announcementsIn(
  send: (client: Client, query: PostgresQuery) => Promise<PostgresResult>,
): PostgresPool {
  return {
    async connect() {
      const client = await behind.connect();
      return {
        query: (query) =>
          query.text.includes("pg_notify") ? send(client, query) : client.query(query),
        release: (broken) => client.release(broken),
        on: client.on.bind(client),
        removeListener: client.removeListener.bind(client),
      };
    },
    options: { max: 1 },
  };
}
