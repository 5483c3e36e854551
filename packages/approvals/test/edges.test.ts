// A platform without `setImmediate`, watchers that are taken back, removals that no store does.
import { afterEach, describe, expect, it, vi } from "vitest";

import { eventLoopTurn, limits, memoryHome, memoryRemover, type Removal } from "../src/index.ts";
import type { DroppedRow } from "../src/memory-home.ts";

const scope = "acme";
const row = (key: string) =>
  ({ statement: "log.put", scope, key, expect: 0, values: { n: 1 } }) as const;

describe("a turn of the event loop", () => {
  afterEach(() => void vi.unstubAllGlobals());

  it.each([true, false])(
    "APR-13 serves what waits outside of promises, with setImmediate there (%s)",
    async (isThere) => {
      if (!isThere) vi.stubGlobal("setImmediate", undefined);
      const served: string[] = [];
      const { port1, port2 } = new MessageChannel();
      const message = new Promise<void>((resolve) => {
        port1.onmessage = () => (served.push("message"), resolve());
      });
      port2.postMessage(0);
      const turn = eventLoopTurn().then(() => served.push("turn"));
      await Promise.resolve();
      expect(served).toEqual([]); // it is no mere microtask
      await Promise.all([turn, message]);
      expect(served.toSorted()).toEqual(["message", "turn"]);
      port1.close();
    },
  );
});

describe("a home in memory", () => {
  it("APR-29 tells who watches of commits and of rows taken out, until that is taken back", async () => {
    const home = memoryHome();
    const told: string[] = [];
    const dropped = ({ row: { key } }: DroppedRow): void => void told.push(`dropped ${key}`);
    const back = home.watch(
      (applied) => told.push(...applied.map(({ row: { key } }) => key)),
      dropped,
    );
    const backToo = home.watch(() => told.push("another"));
    await home.commit("one", [row("a"), row("b")]);
    home.drop("log", scope, "a");
    home.drop("log", scope, "a"); // gone: nothing to tell
    expect(told).toEqual(["a", "b", "another", "dropped a"]);
    back();
    backToo();
    await home.commit("two", [row("c")]);
    home.drop("log", scope, "b");
    expect(told).toHaveLength(4);
  });

  const one = { table: "log", key: "a" };
  const wrong: readonly (readonly [string, Removal])[] = [
    ["a scope that is none", { scope: "no scope", rows: [one] }],
    ["a key that is none", { scope, rows: [one, { table: "log", key: "no key" }] }],
    [
      "a standing key that is none",
      { scope, rows: [one], standing: { ...one, key: "", version: 1 } },
    ],
    ["one row too many", { scope, rows: Array.from({ length: limits.removedMax + 1 }, () => one) }],
  ];

  it.each(wrong)("APR-29 takes nothing out by %s", async (_, removal) => {
    const home = memoryHome();
    await home.commit("one", [row("a")]);
    await expect(memoryRemover(home).remove(removal)).rejects.toMatchObject({
      code: "write-invalid",
    });
    expect(home.row("log", scope, "a")).toBeDefined();
  });

  it("APR-29 takes out as many rows at once as are allowed", async () => {
    const home = memoryHome();
    await home.commit("one", [row("a")]);
    const rows = Array.from({ length: limits.removedMax }, () => one);
    expect(await memoryRemover(home).remove({ scope, rows })).toBe(true);
    expect(home.row("log", scope, "a")).toBeUndefined();
  });
});
