import { memoryHome } from "@holdpoint/approvals";
import { appendWrite, memoryRunLog } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { isSqliteError, openSqlite } from "../src/index.ts";
import { place } from "./place.ts";
import { runLogCases, type LogUnderTest } from "./run-log-cases.ts";

function onFile(): LogUnderTest {
  const path = place()();
  const stores = [openSqlite(path)];
  return {
    log: stores[0]!.log,
    another() {
      const store = openSqlite(path);
      stores.push(store);
      return store.log;
    },
    close: () => stores.forEach((store) => store.close()),
  };
}

function inMemory(): LogUnderTest {
  const home = memoryHome();
  return { log: memoryRunLog(home), another: () => memoryRunLog(home), close: () => undefined };
}

describe.each([
  ["on a file", onFile],
  ["in memory", inMemory],
])("a run log %s", (_, make) => {
  it.each(runLogCases)("STORE-02 $name", async ({ run }) => {
    const under = make();
    try {
      await expect(run(under)).resolves.toBeUndefined();
    } finally {
      under.close();
    }
  });
});

describe("a run log's rows", () => {
  it("STORE-08 are those of one run, also where another run's id looks like one of its keys", async () => {
    const store = openSqlite(":memory:");
    const ids = ["run", "run/000000000001", "run/000000000001/000000000001"];
    for (const id of ids) await store.commit(`of-${id}`, [appendWrite("acme", id, 1, id)]);
    for (const id of ids) {
      expect(await store.log.read("acme", id, 0, 10)).toEqual([{ revision: 1, text: id }]);
      expect(await store.log.head("acme", id)).toBe(1);
    }
    store.close();
  });

  it("STORE-11 have the run and the revision that their key says", async () => {
    const store = openSqlite(":memory:");
    const write = appendWrite("acme", "run-1", 1, "text");
    for (const values of [
      { ...write.values, run: "run-2" },
      { ...write.values, revision: 2 },
      { ...write.values, revision: 0 },
    ]) {
      await expect(store.commit("one", [{ ...write, values }])).rejects.toSatisfy((error) =>
        isSqliteError(error, "write-invalid"),
      );
    }
    expect(await store.log.read("acme", "run-1", 0, 10)).toEqual([]);
    await expect(store.commit("one", [write])).resolves.toEqual({
      status: "done",
      repeated: false,
    });
    store.close();
  });
});
