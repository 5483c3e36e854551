import { memoryApprovalStore, memoryHome, statements, type Write } from "@holdpoint/approvals";
import { approvalStoreCases } from "@holdpoint/approvals/contract";
import { describe, expect, it } from "vitest";

import { faultyStore, runContract, testClock, type Fault } from "../src/index.ts";

const put = (key: string, expect_ = 0): Write => ({
  statement: statements.putRecord,
  scope: "acme",
  key,
  expect: expect_,
  values: { state: "pending", requestedAt: 1, expiresAt: null, sealed: "s" },
});

function over(plan: readonly Fault[]) {
  const clock = testClock();
  const real = memoryApprovalStore(memoryHome({ clock }));
  return { clock, real, ...faultyStore(real, plan, { clock }) };
}

/** Whether a promise has settled by now, without waiting for real time. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  const mark = (): void => void (done = true);
  promise.then(mark, mark);
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  return done;
}

describe("a faulty store", () => {
  it("TEST-04 fails the n-th commit with nothing applied, and no other", async () => {
    const { store, real, control } = over([{ at: 2, kind: "fail" }]);
    await store.commit("one", [put("a")]);
    const failing = store.commit("two", [put("b")]);
    await expect(failing).rejects.toMatchObject({ code: "store-unavailable" });
    expect(await real.get("acme", "b")).toBeUndefined();
    expect((await store.commit("two", [put("b")])).status).toBe("done");
    expect([control.commits, control.struck, control.dead]).toEqual([
      3,
      [{ number: 2, kind: "fail" }],
      false,
    ]);
  });

  it("TEST-04 refuses, loses the commit, or loses its answer", async () => {
    const { store, real } = over([
      { at: 1, kind: "refuse" },
      { at: 2, kind: "lose-commit" },
      { at: 3, kind: "lose-answer" },
    ]);
    expect(await store.commit("a", [put("a")])).toMatchObject({ status: "refused", write: 0 });
    expect((await store.commit("b", [put("b")])).status).toBe("unknown");
    expect((await store.commit("c", [put("c")])).status).toBe("unknown");
    const there = await Promise.all(["a", "b", "c"].map((id) => real.get("acme", id)));
    expect(there.map((row) => row?.key)).toEqual([undefined, undefined, "c"]);
    expect(await store.commit("c", [put("c")])).toEqual({ status: "done", repeated: true });
  });

  it("TEST-04 delays until it is released, or for a time on the clock", async () => {
    const { store, clock, control } = over([
      { at: 1, kind: "delay" },
      { at: 2, kind: "delay", delayMs: 500 },
    ]);
    const held = store.commit("a", [put("a")]);
    const timed = store.commit("b", [put("b")]);
    clock.move(499);
    expect([await settled(held), await settled(timed)]).toEqual([false, false]);
    clock.move(1);
    expect([await settled(held), await settled(timed)]).toEqual([false, true]);
    control.release();
    expect((await held).status).toBe("done");
    const { store: timeless } = faultyStore(memoryApprovalStore(), [
      { at: 1, kind: "delay", delayMs: 5 },
    ]);
    await expect(timeless.commit("a", [])).rejects.toThrow("needs a clock");
  });

  it.each([
    ["die-before", undefined],
    ["die-after", "b"],
  ] as const)("TEST-04 dies at a commit and answers nothing any more (%s)", async (kind, key) => {
    const { store, real, control } = over([{ at: 2, kind }]);
    await store.commit("a", [put("a")]);
    const last = store.commit("b", [put("b")]);
    await control.died;
    expect(control.dead).toBe(true);
    const after = [last, store.commit("c", [put("c")]), store.get("acme", "a"), store.now()];
    for (const call of after) expect(await settled(call)).toBe(false);
    expect((await real.get("acme", "b"))?.key).toBe(key);
    expect((await real.commit("c", [put("c")])).status).toBe("done");
  });

  it("TEST-04 strikes by what is written, as often as it says", async () => {
    const writes = (id: string) => (commit: { readonly writes: readonly Write[] }) =>
      commit.writes.some((write) => write.key === id);
    const { store, control } = over([
      { at: writes("b"), kind: "fail", times: 2 },
      { at: writes("c"), kind: "fail" },
    ]);
    await store.commit("a", [put("a")]);
    for (const id of ["b", "b", "c"]) {
      await expect(store.commit(id, [put(id)])).rejects.toMatchObject({
        code: "store-unavailable",
      });
    }
    for (const id of ["b", "c"]) expect((await store.commit(id, [put(id)])).status).toBe("done");
    expect(control.struck.map(({ number }) => number)).toEqual([2, 3, 4]);
  });

  it("TEST-04 wraps a home of several ports too, which commit together on", async () => {
    const home = memoryHome();
    const { store: faultyHome } = faultyStore(home, [{ at: 2, kind: "fail" }]);
    const approvals = memoryApprovalStore(faultyHome);
    expect(approvals.home).toBe(home);
    await approvals.commit("a", [put("a")]);
    await expect(approvals.commit("b", [put("b")])).rejects.toMatchObject({
      code: "store-unavailable",
    });
    expect((await approvals.get("acme", "a"))?.key).toBe("a");
    expect(await approvals.list("acme", {}, { order: "oldest", limit: 9 })).toHaveLength(1);
  });
});

describe("the contract, bound in three lines", () => {
  it("TEST-05 gives a runner each case under its name, and hands its verdict on", async () => {
    const bound = new Map<string, () => Promise<void>>();
    const failing = { name: "fails", run: () => Promise.reject(new Error("no")) };
    const taken: unknown[] = [];
    const passing = { name: "passes", run: async (make: string) => void taken.push(make) };
    runContract([failing, passing], "make", { it: (name, run) => bound.set(name, run) });
    expect([...bound.keys()]).toEqual(["fails", "passes"]);
    await expect(bound.get("fails")?.()).rejects.toThrow("no");
    await bound.get("passes")?.();
    expect(taken).toEqual(["make"]);
  });

  it("TEST-04 TEST-05 has every case pass over a store whose wrapper plans nothing", async () => {
    const make = () => {
      const clock = testClock();
      const home = memoryHome({ clock });
      return {
        store: faultyStore(memoryApprovalStore(home), []).store,
        another: () => faultyStore(memoryApprovalStore(home), []).store,
        advance: (ms: number) => clock.move(ms),
        close: () => undefined,
      };
    };
    const runs: Promise<void>[] = [];
    runContract(approvalStoreCases, make, { it: (_name, run) => runs.push(run()) });
    expect(runs.length).toBeGreaterThan(40);
    await expect(Promise.all(runs)).resolves.toBeDefined();
  });
});
