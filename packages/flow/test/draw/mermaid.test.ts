import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  describe as describeFlow,
  flow,
  FlowRunner,
  memoryRunLog,
  progressOf,
  toMermaid,
  type Flow,
} from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { paused, rejection, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), mended: z.boolean().optional() });

function refund() {
  const { gated } = effects();
  return flow("refund", State, { version: "3" })
    .node("assess", () => ({}), { title: "Assess", description: "Looks the order up." })
    .gate("review", { payload: (s) => s.n, title: "A person looks" })
    .call("pay", gated, { args: (s) => ({ n: s.n }) })
    .node("mend", () => ({ mended: true }), { version: "2" })
    .node("close", () => ({}), { join: true })
    .path("assess", "review", "pay", "close")
    .denied("review", "close")
    .failed("pay", "mend")
    .route("mend", ["close", "pay", "$end"], () => "close")
    .build();
}

describe("a flow, drawn", () => {
  it("FLOW-09 describes a graph as plain data: nodes, titles, kinds, edges, routes, denied and failed edges", () => {
    const f = refund();
    const shown = describeFlow(f);
    expect(structuredClone(shown)).toEqual({
      name: "refund",
      version: "3",
      digest: f.digest,
      start: "assess",
      nodes: [
        {
          name: "assess",
          kind: "function",
          title: "Assess",
          description: "Looks the order up.",
          join: false,
        },
        { name: "review", kind: "gate", title: "A person looks", join: false },
        { name: "pay", kind: "call", join: false, tool: "gated" },
        { name: "mend", kind: "function", version: "2", join: false },
        { name: "close", kind: "function", join: true },
      ],
      links: [
        { from: "assess", to: "review", when: "finished" },
        { from: "review", to: "pay", when: "finished" },
        { from: "review", to: "close", when: "denied" },
        { from: "pay", to: "close", when: "finished" },
        { from: "pay", to: "mend", when: "failed" },
        { from: "mend", to: "close", when: "route" },
        { from: "mend", to: "pay", when: "route" },
        { from: "mend", to: "$end", when: "route" },
        { from: "close", to: "$end", when: "finished" },
      ],
    });
  });

  it("FLOW-09 names the flows and tools within, of a flow that contains itself too", () => {
    const { free } = effects();
    const tree: Flow<z.output<typeof State>, z.input<typeof State>> = flow("tree", State)
      .node("code", () => ({}), { runs: [refund()] })
      .mapCall("all", free, { over: () => [1], args: (n) => ({ n }), into: () => ({}) })
      .subflow("again", () => tree, { input: (s) => s, into: () => ({}) })
      .path("code", "all")
      .route("all", ["again", "$end"], () => "$end")
      .build();
    expect(describeFlow(tree).nodes).toEqual([
      { name: "code", kind: "function", join: false, flows: ["refund"] },
      { name: "all", kind: "map-call", join: false, tool: "free" },
      { name: "again", kind: "subflow", join: false, flows: ["tree"] },
    ]);
    const text = toMermaid(tree);
    expect(text).toContain('n1[/"all"/]');
    expect(text).toContain('n2(["again"])');
  });

  it("FLOW-09 draws it as Mermaid text", () => {
    expect(toMermaid(refund()).split("\n")).toEqual([
      "flowchart TD",
      '  begin(("start"))',
      '  n0["Assess (assess)"]',
      '  n1{{"A person looks (review)"}}',
      '  n2[["pay"]]',
      '  n3["mend"]',
      '  n4["close, join"]',
      '  done(("end"))',
      "  begin --> n0",
      "  n0 --> n1",
      "  n1 --> n2",
      "  n1 -->|denied| n4",
      "  n2 --> n4",
      "  n2 -->|failed| n3",
      "  n3 -.-> n4",
      "  n3 -.-> n2",
      "  n3 -.-> done",
      "  n4 --> done",
      "",
    ]);
  });
});

describe("what a drawing marks", () => {
  it("FLOW-09 marks how far a run has come: by its checkpoint, by that checkpoint's JSON, by what was told and by its history", async () => {
    const f = refund();
    const log = memoryRunLog();
    const { runner, notices } = world({ log });
    const marks = (text: string) => text.split("\n").filter((line) => line.startsWith("  class n"));
    const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    const waits = ["  class n0 done", "  class n1 waiting"];
    expect(marks(toMermaid(f, first.checkpoint))).toEqual(waits);
    expect(marks(toMermaid(f, JSON.parse(JSON.stringify(first.checkpoint))))).toEqual(waits);
    expect(marks(toMermaid(f, notices))).toEqual(waits);
    expect(marks(toMermaid(f, await runner().history(f, "r")))).toEqual(waits);
    expect(toMermaid(f, first.checkpoint)).toContain("classDef waiting fill:");

    const second = paused(await runner().resume(f, first.checkpoint, yes()));
    expect(marks(toMermaid(f, second.checkpoint))).toEqual([
      "  class n0 done",
      "  class n1 done",
      "  class n2 waiting",
    ]);
    const answered = notices.findIndex(({ type }) => type === "answered");
    expect(progressOf(notices.slice(0, answered + 1)).get("review")).toBe("running");
    await runner().resume(f, second.checkpoint, yes());
    expect([...progressOf(notices)]).toEqual([
      ["assess", "done"],
      ["review", "done"],
      ["pay", "done"],
      ["close", "done"],
    ]);
    expect([...progressOf(notices)]).toEqual([...progressOf(await runner().history(f, "r"))]);
  });

  it("FLOW-09 marks what failed, and a sibling that finished while another waits", async () => {
    const fails = flow("f", State)
      .node("a", () => {
        throw new Error("no");
      })
      .build();
    const told: Parameters<typeof progressOf>[0] & unknown[] = [];
    const runner = new FlowRunner({ onEvent: (notice) => void told.push(notice) });
    await rejection(runner.run(fails, { n: 1 }));
    expect(toMermaid(fails, told)).toContain("class n0 failed");

    const { gated } = effects();
    const fork = flow("f", State)
      .node("start", () => ({}))
      .node("fast", () => ({}))
      .call("slow", gated, { args: { n: 1 } })
      .node("after", () => ({}))
      .edge("start", "fast")
      .edge("start", "slow")
      .edge("fast", "after")
      .build();
    const first = paused(await world().runner().run(fork, { n: 1 }));
    expect([...progressOf(first.checkpoint)]).toEqual([
      ["start", "done"],
      ["fast", "done"],
      ["slow", "waiting"],
    ]);
  });

  it("FLOW-09 lets no title end its label, begin another line or make markup, over generated titles", () => {
    const hostile = fc.oneof(
      fc.string({ unit: "binary", maxLength: 120 }),
      fc
        .array(
          fc.constantFrom(
            '"',
            "]",
            "\n",
            "click n0 href",
            "<img src=x onerror=alert(1)>",
            "#quot;",
            "`",
            "%%{init}%%",
            "-->",
            "\u202E",
            "&lt;",
            ";",
          ),
          { maxLength: 12 },
        )
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(hostile, (title) => {
        const f = flow("f", State)
          .node("a", () => ({}), { title })
          .build();
        const lines = toMermaid(f).split("\n");
        expect(lines).toHaveLength(7);
        const label = /^ {2}n0\["(?<label>.*)"\]$/u.exec(lines[2]!)?.groups?.["label"] ?? "(none)";
        // Letters, digits, plain signs, and characters by their number.
        expect(label).toMatch(/^(?:[\p{L}\p{N} ,.()…-]|#\d+;)*$/u);
        expect(label).toMatch(/^a$|\(a\)$/);
        const read = label.replaceAll(/#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
        const whole = title.replaceAll(/[\s\p{C}\p{Z}]+/gu, " ").trim();
        const cut =
          Array.from(whole).length > 80 ? `${Array.from(whole).slice(0, 79).join("")}…` : whole;
        expect(read).toBe(cut === "" || cut === "a" ? "a" : `${cut} (a)`);
      }),
      { numRuns: 500, seed: 9 },
    );
  });
});
