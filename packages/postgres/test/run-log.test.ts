import { memoryHome } from "@holdpoint/approvals";
import { appendWrite, memoryRunLog } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { isPostgresError } from "../src/index.ts";
import { opened, place } from "./place.ts";
import { runLogCases, type LogUnderTest } from "./run-log-cases.ts";

async function inSchema(): Promise<LogUnderTest> {
  const schema = place();
  const { log } = await opened(schema);
  return { log, another: async () => (await opened(schema)).log, close: () => undefined };
}

function inMemory(): LogUnderTest {
  const home = memoryHome();
  return { log: memoryRunLog(home), another: () => memoryRunLog(home), close: () => undefined };
}

describe.each([
  ["in a schema", inSchema],
  ["in memory", inMemory],
])("a run log %s", (_, make) => {
  it.each(runLogCases)("STORE-02 $name", async ({ run }) => {
    const under = await make();
    try {
      await expect(run(under)).resolves.toBeUndefined();
    } finally {
      under.close();
    }
  });
});

describe("a run log's rows", () => {
  it("STORE-08 are those of one run, also where another run's id looks like one of its keys", async () => {
    const store = await opened(place());
    const ids = ["run", "run/000000000001", "run/000000000001/000000000001"];
    for (const id of ids) await store.commit(`of-${id}`, [appendWrite("acme", id, 1, id)]);
    for (const id of ids) {
      expect(await store.log.read("acme", id, 0, 10)).toEqual([{ revision: 1, text: id }]);
      expect(await store.log.head("acme", id)).toBe(1);
    }
  });

  it("STORE-11 have the run and the revision that their key says", async () => {
    const store = await opened(place());
    const write = appendWrite("acme", "run-1", 1, "text");
    for (const values of [
      { ...write.values, run: "run-2" },
      { ...write.values, revision: 2 },
      { ...write.values, revision: 0 },
    ]) {
      await expect(store.commit("one", [{ ...write, values }])).rejects.toSatisfy((error) =>
        isPostgresError(error, "write-invalid"),
      );
    }
    expect(await store.log.read("acme", "run-1", 0, 10)).toEqual([]);
    await expect(store.commit("one", [write])).resolves.toEqual({
      status: "done",
      repeated: false,
    });
  });
});
