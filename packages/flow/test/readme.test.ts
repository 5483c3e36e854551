import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const blocks = [...read("../README.md").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);

describe("the README", () => {
  it("FLOW-70 shows the samples that run here, letter by letter", () => {
    const samples = readdirSync(new URL("samples", import.meta.url)).map((file) =>
      read(`samples/${file}`),
    );
    expect(samples).toHaveLength(4);
    expect(new Set(blocks)).toEqual(new Set(samples));
  });

  it("FLOW-70 FLOW-71 pauses twice, goes on from texts, and pays once", async () => {
    const { asked, end, paidBack } = await import("./samples/portable.ts");
    expect(asked).toEqual(["node:refund.review", "issue_refund"]);
    expect(end).toEqual({ orderId: "A-17", cents: 250_000, refundId: "refund of A-17" });
    expect(paidBack).toEqual(["A-17: 250000 under 43 characters of key"]);
  });

  it("FLOW-22 asks two questions and gets two answers", async () => {
    const { shown, claimed } = await import("./samples/questions.ts");
    expect(shown).toEqual([{ question: "When?" }, { question: "Where?" }]);
    expect(claimed.found).toEqual(["answer 1", "answer 2"]);
  });

  it("FLOW-25 FLOW-33 FLOW-36 pays a list of bills, each a flow of its own, and keeps why one was not paid", async () => {
    const { waits, done } = await import("./samples/within.ts");
    expect(waits).toEqual(["bills#1[0]/bill.0/check#1", "bills#1[2]/bill.0/check#1"]);
    expect(done).toMatchObject({
      status: "completed",
      state: { paid: ["90000 to rent", "2000 to phone", "denied"] },
    });
  });

  it("FLOW-09 FLOW-10 FLOW-53 FLOW-64 FLOW-65 joins, draws, plans, forks and carries a run over a change", async () => {
    const { drawing, plan, fork, end } = await import("./samples/changed.ts");
    expect(drawing).toContain('n4{{"Ship it#63; (ship), join"}}');
    expect(drawing).toContain("class n4 waiting");
    expect(plan.nodes.map(({ will }) => will)).toEqual(["keep", "keep", "keep", "keep", "blocked"]);
    expect(fork).toMatchObject({ status: "paused", runId: "A-17-again" });
    expect(end).toMatchObject({
      status: "completed",
      runId: "A-17",
      state: { passed: ["stock", "address", "customs"], sent: true },
    });
  });

  it("FLOW-24 FLOW-36 answers three calls of one node by their ids, one of them by no", async () => {
    const { second, done } = await import("./samples/several.ts");
    expect(second).toMatchObject({
      status: "paused",
      pendings: [{ tool: "send" }, { tool: "send" }],
    });
    expect(done).toMatchObject({
      status: "completed",
      state: { sent: ["sent to erin", "not to fred", "sent to gina"] },
    });
  });
});
