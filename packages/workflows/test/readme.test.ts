import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

describe("the README", () => {
  it("WF-01 shows the samples that run here, letter by letter", () => {
    const samples = readdirSync(new URL("samples", import.meta.url)).map((file) =>
      read(`samples/${file}`),
    );
    const blocks = [...read("../README.md").matchAll(/```ts\n([\s\S]*?)```/g)].map(
      ([, code]) => code,
    );
    expect(samples.length).toBe(6);
    expect(new Set(blocks)).toEqual(new Set(samples));
  });

  it("WF-24 starts, waits and goes on by a decision", async () => {
    const { waiting, done, output } = await import("./samples/first-run.ts");
    expect(waiting).toMatchObject({ status: "interrupted", startKey: "request-1" });
    expect(done.status).toBe("completed");
    expect(output).toEqual({ refundId: "refund of A-17" });
  });

  it("WF-21 goes on in a new process", async () => {
    const { adopted, done, history } = await import("./samples/new-process.ts");
    expect(adopted).toEqual([{ runId: done.runId, did: "waits" }]);
    expect(done.status).toBe("completed");
    expect(history.map(({ type }) => type)).toContain("answered");
  });

  it("WF-24 WF-27 WF-36 is supervised: goes on by itself, says why, tells, and gives back", async () => {
    const { why, done, told, left } = await import("./samples/supervised.ts");
    expect(why).toMatchObject({ why: "waits-for-people", status: "interrupted" });
    expect(done.status).toBe("completed");
    expect(told[0]).toMatchObject({ kind: "waiting", runId: done.runId });
    expect(left).toEqual({ released: ["desk"], lapsing: [], cutOff: [] });
  });

  it("WF-02 WF-03 reads a body strictly, and publishes its schema", async () => {
    const { read: body, schema } = await import("./samples/strict-input.ts");
    expect(await body('{"orderId":"A-17"}')).toEqual({ status: 200, orderId: "A-17" });
    expect(await body('{"orderId":"A-17","orderId":"B-1"}')).toEqual({
      status: 400,
      issues: [{ path: "orderId", message: "a name given twice at position 18" }],
    });
    expect(schema).toMatchObject({ required: ["orderId"] });
  });

  it("WF-05 WF-22 runs one definition by itself, and answers once", async () => {
    const { stop, again, output } = await import("./samples/one-definition.ts");
    expect([stop.status, stop.summary]).toEqual(["completed", "C-7 has its photo"]);
    expect(again).toEqual(stop);
    expect(output).toEqual({ claimId: "C-7", url: "https://example.test/7.jpg" });
  });

  it("WF-29 goes on with a failed run, by itself and by hand", async () => {
    const { lookedUp, failed, done } = await import("./samples/retried.ts");
    expect([failed.status, failed.retries]).toEqual(["failed", 1]);
    expect([done.status, done.retries, lookedUp]).toEqual(["completed", 3, ["A-17"]]);
  });
});
