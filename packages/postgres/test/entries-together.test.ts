// Log entries of one commit: one expression of its statement appends them, all or none.
import type { Write } from "@holdpoint/approvals";
import { afterEach, describe, expect, it } from "vitest";

import { openPostgres } from "../src/index.ts";
import { opened, place, setEpoch, url } from "./place.ts";
import { append, entry, put, scope } from "./record-writes.ts";
import { watchedPool, type WatchedPool } from "./watched-pool.ts";

const pools: WatchedPool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.real.end();
});

async function watched() {
  const pool = watchedPool(url);
  pools.push(pool);
  const schema = place();
  return { pool, schema, store: await openPostgres(pool, { schema }) };
}

const three = [entry(1, "one"), entry(2, "two"), entry(3, "three")];
const fenced = (writes: readonly Write[], epoch: number): readonly Write[] =>
  writes.map((write) => ({ ...write, fence: { name: "desk", epoch } }));

describe("log entries of one commit", () => {
  it("STORE-11 go in one statement, whose text does not depend on how many they are", async () => {
    const { pool, store } = await watched();
    pool.reset();
    await store.commit("a", three);
    await store.commit("b", [entry(4, "four"), entry(5, "five")]);
    const texts = pool.calls.map(({ query }) => query.text);
    expect(texts).toHaveLength(2);
    expect(new Set(texts).size).toBe(1);
    const rows = await store.log.read(scope, "run-1", 0, 10);
    expect(rows).toEqual(
      ["one", "two", "three", "four", "five"].map((text, at) => ({ revision: at + 1, text })),
    );
    expect((await store.commit("b", [entry(4, "four"), entry(5, "five")])).status).toBe("done");
  });

  it.each([1, 2, 3])(
    "STORE-11 FLOW-75 are refused whole where entry %i stands already, whatever goes along",
    async (taken) => {
      const store = await opened(place());
      await store.commit("other", [entry(taken, "of another")]);
      const refusal = { because: "version", stands: { version: 1, attempt: "other" } };
      const refused = { status: "refused", refusal };
      expect(await store.commit("a", three)).toMatchObject({ ...refused, write: taken - 1 });
      const along = [put("a", 0), ...three, append("a", 1)];
      expect(await store.commit("b", along)).toMatchObject({ ...refused, write: taken });
      expect(await store.log.read(scope, "run-1", 0, 10)).toHaveLength(1);
      expect(await store.approvals.get(scope, "a")).toBeUndefined();
      expect(await store.approvals.lastChange(scope)).toBe(0);
    },
  );

  it("STORE-06 are all under the fence that they carry, of which the lease is locked once", async () => {
    const { pool, schema, store } = await watched();
    await setEpoch(schema, "desk", 2);
    const all = [put("a", 0), ...three, append("a", 1)];
    pool.reset();
    expect((await store.commit("new", fenced(all, 2))).status).toBe("done");
    expect(pool.calls[0]!.query.text.match(/FOR SHARE/g)).toHaveLength(1);
    const more = [put("b", 0), entry(4, "four"), entry(5, "five"), append("b", 1)];
    expect(await store.commit("old", fenced(more, 1))).toMatchObject({
      status: "refused",
      write: 0,
      refusal: { because: "fenced", epoch: 2 },
    });
    // Each by its own epoch, also where one lease is locked for several.
    const [first, ...others] = more;
    const mixed = [...fenced([first!], 2), ...fenced(others, 1)];
    expect(await store.commit("mixed", mixed)).toMatchObject({ status: "refused", write: 1 });
    expect(await store.log.head(scope, "run-1")).toBe(3);
    expect(await store.approvals.get(scope, "b")).toBeUndefined();
  });

  it("STORE-06 are judged each by its own fence, where they carry several", async () => {
    const schema = place();
    const store = await opened(schema);
    await setEpoch(schema, "desk", 2);
    const [one, two, last] = three as [Write, Write, Write];
    const refused = { status: "refused", write: 1, refusal: { because: "fenced", epoch: 2 } };
    expect(await store.commit("a", [...fenced([one], 2), ...fenced([two], 1), last])).toMatchObject(
      refused,
    );
    expect(await store.log.head(scope, "run-1")).toBe(0);
    const night = { ...two, fence: { name: "night", epoch: 1 } };
    expect((await store.commit("b", [...fenced([one], 2), night, last])).status).toBe("done");
    expect(await store.log.head(scope, "run-1")).toBe(3);
  });

  it("STORE-15 with a time limit are judged each by itself", async () => {
    const store = await opened(place());
    const late = [entry(1, "one"), { ...entry(2, "two"), before: 1 }];
    expect(await store.commit("a", late)).toMatchObject({
      status: "refused",
      write: 1,
      refusal: { because: "late" },
    });
    expect(await store.log.head(scope, "run-1")).toBe(0);
  });
});
