import type { Write } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { inStep } from "../../src/run/in-step.ts";
import { faultyStores } from "../faulty-stores.ts";
import { world } from "../world.ts";

/** Pieces of work that end when they are told. */
function works() {
  const begun: number[] = [];
  const ends = new Map<number, { end: () => void; fail: (why: unknown) => void }>();
  const work = (item: number): Promise<string> =>
    new Promise((resolve, reject) => {
      begun.push(item);
      ends.set(item, { end: () => resolve(`did ${item}`), fail: reject });
    });
  return {
    begun,
    work,
    end: (n: number) => ends.get(n)!.end(),
    fail: (n: number, why: unknown) => ends.get(n)!.fail(why),
  };
}

const settle = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
};

describe("work in step", () => {
  it("WF-21 is done side by side up to a bound, and answered in order", async () => {
    const { begun, work, end } = works();
    const all = inStep([1, 2, 3, 4], 2, work);
    await settle();
    expect(begun).toEqual([1, 2]);
    end(2);
    await settle();
    expect(begun).toEqual([1, 2, 3]);
    for (const each of [3, 1]) end(each);
    await settle();
    end(4);
    expect(await all).toEqual([1, 2, 3, 4].map((n) => `did ${n}`));
  });

  it("WF-21 tells each when the one before it has answered, however it did", async () => {
    const { work, end, fail } = works();
    const past: number[] = [];
    const all = inStep([1, 2, 3], 3, async (item, before) => {
      void before.then(() => past.push(item));
      return work(item);
    });
    await settle();
    expect(past).toEqual([1]);
    end(3);
    await settle();
    expect(past).toEqual([1]);
    fail(1, new Error("one"));
    await settle();
    expect(past).toEqual([1, 2]);
    end(2);
    await expect(all).rejects.toThrow("one");
  });

  it("WF-21 begins nothing after a failure, and tells it when all that was begun has answered", async () => {
    const { begun, work, end, fail } = works();
    let told = false;
    const all = inStep([1, 2, 3, 4], 2, work).finally(() => (told = true));
    await settle();
    fail(2, new Error("two"));
    await settle();
    expect([begun, told]).toEqual([[1, 2], false]);
    end(1);
    await expect(all).rejects.toThrow("two");
    expect(begun).toEqual([1, 2]);
  });
});

describe("adopting many", () => {
  it("WF-21 WF-25 reads runs side by side, and goes on with them oldest first", async () => {
    const here = world();
    for (const key of ["1", "2", "3"]) {
      const { store, died } = faultyStores(here.homes, 1, "die-after");
      void here
        .open(store)
        .desk.start("refund", { orderId: `A-${key}` }, { key })
        .catch(() => {});
      await died;
      here.clock.move(1);
    }
    const { store } = here;
    // The oldest run's log answers last.
    const held: (() => void)[] = [];
    const { log } = store;
    const begun: unknown[] = [];
    const slow = Object.assign(Object.create(log) as typeof log, {
      head: async (scope: string, runId: string) => {
        const head = await log.head(scope, runId);
        if (held.push(() => undefined) < 3) await new Promise<void>((go) => held.splice(-1, 1, go));
        else for (const go of held.toReversed()) go();
        return head;
      },
      commit: (attemptId: string, writes: readonly Write[]) => {
        for (const { values } of writes) if (values["revision"] === 1) begun.push(values["run"]);
        return log.commit(attemptId, writes);
      },
    });
    const { desk } = here.open({ ...store, log: slow });
    const adoptions = await desk.adoptAll();
    const runs = (await desk.list({ order: "oldest" })).items.map(({ runId }) => runId);
    expect(adoptions).toEqual(runs.map((runId) => ({ runId, did: "begun", how: "start" })));
    for (const runId of runs) await desk.settled(runId);
    expect(begun).toEqual(runs);
  });
});
