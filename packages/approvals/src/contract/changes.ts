import type { ApprovalStore } from "../store.ts";
import {
  append,
  commits,
  holds,
  keysOf,
  put,
  putKey,
  same,
  storeCase,
  tenant,
  type StoreCase,
} from "./store-case.ts";

/** The feed of changes, and waking up for it. */
export const changeCases: readonly StoreCase[] = [
  storeCase(
    "APR-27 tells audit entries, and nothing else, in the order of their commits",
    async ({ store }) => {
      same(await store.lastChange(tenant), 0, "the last change of an empty scope");
      await commits(store, [put("a", 0), append("a", 1), putKey("call", 0, "a")]);
      await commits(store, [append("b", 1)]);
      await commits(store, [append("a", 2), append("a", 3)]);
      const changes = await store.changes(tenant, 0, 10);
      const keys = keysOf(changes.map((change) => change.row));
      same(
        keys,
        [append("a", 1), append("b", 1), append("a", 2), append("a", 3)].map((w) => w.key),
        "keys",
      );
      for (const [at, { position }] of changes.entries()) {
        holds(
          Number.isSafeInteger(position) && position > 0,
          "a position is a whole number over 0",
        );
        holds(at === 0 || position > changes[at - 1]!.position, "positions rise");
      }
      same(await store.lastChange(tenant), changes.at(-1)?.position, "the last change");
    },
  ),

  storeCase("APR-27 catches up from any position, page by page", async ({ store }) => {
    for (let number = 1; number <= 23; number += 1) await commits(store, [append("a", number)]);
    const read: string[] = [];
    let after = 0;
    for (let pages = 0; pages < 5; pages += 1) {
      const page = await store.changes(tenant, after, 5);
      read.push(...keysOf(page.map((change) => change.row)));
      after = page.at(-1)?.position ?? after;
    }
    same(await store.changes(tenant, after, 5), [], "what there is after the last");
    same(
      read,
      Array.from({ length: 23 }, (_, at) => append("a", at + 1).key),
      "all entries",
    );
  }),

  storeCase("APR-27 wakes one who waits when another handle commits", async (under) => {
    const second = await under.another();
    const waiting = under.store.wait(tenant, await under.store.lastChange(tenant), forever());
    await commits(second, [append("a", 1)]);
    await waiting;
    same((await under.store.changes(tenant, 0, 10)).length, 1, "what there is to read then");
  }),

  storeCase(
    "APR-27 wakes at once where there is something already, and when told to stop",
    async ({ store }) => {
      await commits(store, [append("a", 1)]);
      await store.wait(tenant, 0, forever());
      const stop = new AbortController();
      const last = await store.lastChange(tenant);
      const waiting = store.wait(tenant, last, stop.signal);
      stop.abort();
      await waiting;
      await store.wait(tenant, last, AbortSignal.abort());
    },
  ),

  storeCase("APR-27 wakes all who wait, each time", async (under) => {
    for (let number = 1; number <= 3; number += 1) {
      const last = await under.store.lastChange(tenant);
      const waiting = Array.from({ length: 8 }, () => under.store.wait(tenant, last, forever()));
      await commits(under.store, [append("a", number)]);
      await Promise.all(waiting);
    }
  }),

  storeCase(
    "APR-27 loses and repeats nothing for a reader beside 40 racing writers",
    async (under) => {
      const second = await under.another();
      const handles = [under.store, second] as const;
      const writing = Array.from({ length: 40 }, (_, at) =>
        commits(handles[at % 2]!, [append(`w-${at}`, 1)]),
      );
      const read = readAll(under.store, 40);
      await Promise.all(writing);
      const keys = await read;
      same(new Set(keys).size, 40, "the entries read, each once");
      same(keys.length, 40, "the entries read");
    },
  ),
];

function forever(): AbortSignal {
  return new AbortController().signal;
}

async function readAll(store: ApprovalStore, count: number): Promise<readonly string[]> {
  const keys: string[] = [];
  let after = 0;
  while (keys.length < count) {
    await store.wait(tenant, after, forever());
    for (const { position, row } of await store.changes(tenant, after, 7)) {
      keys.push(row.key);
      after = position;
    }
  }
  return keys;
}
