import type { ApprovalStore } from "../store.ts";
import { commits, put, putKey, same, storeCase, tenant, type StoreCase } from "./store-case.ts";

/** Reads that tell the store's time too. A store may leave them out: then there is nothing to hold. */
export const readNowCases: readonly StoreCase[] = [
  storeCase(
    "APR-13 tells the time with a record's row, and both as it tells either",
    async (under) => {
      const { store } = under;
      if (store.getNow === undefined) return;
      await commits(store, [put("a", 0), { ...put("b", 0), scope: "other" }]);
      await commits(store, [put("a", 1, { state: "decided" })]);
      await under.advance(60_000);
      for (const id of ["a", "b", "c"]) {
        const expected = { found: await store.get(tenant, id), now: await store.now() };
        same(await store.getNow(tenant, id), expected, `the row of ${id} and the time`);
      }
      await under.advance(1);
      same((await store.getNow(tenant, "a")).now, await store.now(), "the time a moment later");
    },
  ),

  storeCase(
    "APR-17 tells the time with what stands under request keys, in the order asked for",
    async (under) => {
      const { store } = under;
      if (store.findNow === undefined) return;
      await commits(store, [putKey("one", 0, "a"), putKey("two", 0, "b")]);
      await commits(store, [{ ...putKey("three", 0, "c"), scope: "other" }]);
      await under.advance(60_000);
      for (const keys of [["one"], ["two", "three", "one"], ["none", "two"], ["one", "one"]]) {
        const expected = { found: await foundOf(store, keys), now: await store.now() };
        same(await store.findNow(tenant, keys), expected, `what stands under ${keys.join()}`);
      }
    },
  ),
];

async function foundOf(store: ApprovalStore, keys: readonly string[]) {
  return Promise.all(keys.map((key) => store.find(tenant, key)));
}
