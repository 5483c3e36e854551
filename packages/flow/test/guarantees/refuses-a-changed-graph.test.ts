import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, FlowRunner, replies, type Flow } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { paused, recordlessPort, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({
  n: z.number(),
  sum: z.number().optional(),
  res: z.object({ got: z.number() }).optional(),
  log: z.array(z.string()).default([]),
});
type S = z.output<typeof State>;

const tool = (name: string, version?: string) =>
  defineTool({
    name,
    description: "acts",
    input: z.object({ n: z.number(), mode: z.string().optional() }),
    output: z.object({ got: z.number() }),
    confirm: true,
    ...(version !== undefined && { version }),
    execute: ({ n }) => {
      ran.push(name);
      return { got: n };
    },
  });

let ran: string[] = [];

/** What can differ between two graphs, each with a value that the first graph does not have. */
interface Shape {
  name?: string;
  version?: string;
  identity?: "name" | "source";
  state?: z.ZodObject;
  reducer?: boolean;
  start?: "prep" | "review";
  gateName?: string;
  gateVersion?: string;
  gateRule?: object;
  edits?: boolean;
  when?: boolean;
  payload?: (s: S) => unknown;
  tool?: ReturnType<typeof tool>;
  args?: { n: number; mode?: string };
  into?: "res" | "other" | "function";
  edge?: boolean;
  denied?: boolean;
  failed?: boolean;
  routes?: string[];
  kind?: "function";
  more?: boolean;
  text?: boolean;
  body?: boolean;
  join?: boolean;
}

/** A graph in the given shape. Built without types: half of these would not compile. */
function graph(shape: Shape = {}): Flow<S, { n: number }> {
  const { gateName = "review", text = false } = shape;
  // oxlint-disable-next-line typescript/no-explicit-any
  let b: any = flow(shape.name ?? "f", shape.state ?? State, {
    ...(shape.version !== undefined && { version: shape.version }),
    ...(shape.identity !== undefined && { identity: shape.identity }),
  });
  b = shape.body
    ? b.node("prep", () => ({ sum: 2 }), text ? { title: "Prepare" } : {})
    : b.node("prep", () => ({ sum: 1 }), text ? { title: "Prep" } : {});
  b = b.gate(gateName, {
    payload: shape.payload ?? ((s: S) => ({ sum: s.sum })),
    ...(shape.when && { when: () => true }),
    ...(shape.edits && { edits: { schema: z.object({ sum: z.number() }), apply: () => ({}) } }),
    ...(shape.gateVersion !== undefined && { version: shape.gateVersion }),
    ...(shape.join && { join: true }),
    ...(text && { title: "Look at it", description: "twice" }),
    ...shape.gateRule,
  });
  const into = shape.into ?? "res";
  b =
    shape.kind === "function"
      ? b.node("pay", () => ({}))
      : b.call("pay", shape.tool ?? tool("act"), {
          args: shape.args ?? { n: 5 },
          into: into === "function" ? (r: { got: number }) => ({ sum: r.got }) : into,
          ...(text && { title: "Pay" }),
        });
  if (shape.more) b = b.node("more", () => ({})).edge("pay", "more");
  b = b.edge("prep", gateName).edge(gateName, "pay");
  if (shape.edge) b = b.edge("prep", "pay");
  if (shape.denied) b = b.denied(gateName, "$end");
  if (shape.failed) b = b.failed("pay", "$end");
  b = b.route("pay", shape.routes ?? ["$end", "prep"], () => "$end");
  if (shape.reducer) b = b.reduce("log", (a: string[], c: string[]) => [...a, ...c]);
  if (shape.start) b = b.start(shape.start);
  return b.build() as Flow<S, { n: number }>;
}

const wider = z.object({ ...State.shape, other: z.object({ got: z.number() }).optional() });

const changes: Record<string, [Shape, string[]]> = {
  "the flow's version": [{ version: "2" }, ["flow"]],
  "how functions count": [{ identity: "name" }, ["flow", "node:pay", "node:prep", "node:review"]],
  "the start": [{ start: "review" }, ["flow"]],
  "a field of the state": [{ state: wider }, ["state"]],
  "a reducer": [{ reducer: true }, ["reducers"]],
  "a gate's name": [{ gateName: "look" }, ["node:look", "node:prep", "node:review"]],
  "a node's version": [{ gateVersion: "2" }, ["node:review"]],
  "whether a node joins": [{ join: true }, ["node:review"]],
  "a gate's approvers": [{ gateRule: { approvers: ["erin"] } }, ["node:review"]],
  "a gate's quorum": [{ gateRule: { quorum: 2 } }, ["node:review"]],
  "a gate's excluded requester": [{ gateRule: { excludeRequester: true } }, ["node:review"]],
  "a gate's expiry": [{ gateRule: { expiresInMs: 5 } }, ["node:review"]],
  "a gate's edits": [{ edits: true }, ["node:review"]],
  "a gate's when": [{ when: true }, ["node:review"]],
  "a call's tool": [{ tool: tool("other") }, ["node:pay"]],
  "a tool's version": [{ tool: tool("act", "2") }, ["node:pay"]],
  "a static argument": [{ args: { n: 6 } }, ["node:pay"]],
  "one more static argument": [{ args: { n: 5, mode: "x" } }, ["node:pay"]],
  "the target field": [{ state: wider, into: "other" }, ["node:pay", "state"]],
  "a target function": [{ into: "function" }, ["node:pay"]],
  "a node's kind": [{ kind: "function" }, ["node:pay"]],
  "an edge": [{ edge: true }, ["node:prep"]],
  "a denied edge": [{ denied: true }, ["node:review"]],
  "a failed edge": [{ failed: true }, ["node:pay"]],
  "a route's targets": [{ routes: ["$end", "prep", "review"] }, ["node:pay"]],
  "a node": [{ more: true }, ["node:more", "node:pay"]],
};

describe("a changed graph is refused before an approval is spent", () => {
  for (const [what, [shape, differs]] of Object.entries(changes)) {
    it(`FLOW-51 R127 CASE-106 refuses a graph in which ${what} changed, and names it`, async () => {
      ran = [];
      const { runner, port, store } = world();
      const first = paused(await runner().run(graph(), { n: 1 }));
      const moves = await store.lastChange("default");
      const changed = graph(shape);
      const text = runner().dumpCheckpoint(first.checkpoint);
      expect(() => runner().loadCheckpoint(changed, text)).toThrow(
        expect.objectContaining({
          name: "GraphVersionMismatchError",
          code: "graph-version-mismatch",
        }),
      );
      const error = await rejection(runner().resume(changed, first.checkpoint, yes()));
      expect(error).toMatchObject({
        code: "graph-version-mismatch",
        data: { flow: "f", runId: first.runId, differs },
      });
      for (const part of differs) expect(error.message).toContain(part);
      expect(ran).toEqual([]);
      expect(await store.lastChange("default")).toBe(moves);
      expect(await port.records.read("default", first.pending.id)).toMatchObject({
        state: "pending",
      });
      paused(await runner().resume(graph(), first.checkpoint, yes()));
    });
  }

  it("FLOW-51 R127 accepts a graph whose titles, descriptions and order of lines changed, and FLOW-52 whose bodies did", async () => {
    ran = [];
    const { runner } = world();
    for (const shape of [{ text: true }, { body: true }]) {
      const first = paused(await runner().run(graph(), { n: 1 }));
      const second = paused(await runner().resume(graph(shape), first.checkpoint, yes()));
      expect(stateOf(await runner().resume(graph(shape), second.checkpoint, yes())).n).toBe(1);
    }
    expect(ran).toEqual(["act", "act"]);
  });

  it("FLOW-52 compares names or texts of functions where the flow asks for it, and else only that they are there", async () => {
    const make = (identity: "name" | "node" | "source", run: (s: S) => object) =>
      flow("f", State, { identity })
        .node("a", run)
        .gate("b", { payload: (s) => s.n })
        .path("a", "b")
        .build();
    const assess = (s: S) => ({ sum: s.n });
    const renamed = { other: (s: S) => ({ sum: s.n }) }.other;
    const changed = (s: S) => ({ sum: s.n + 1 });
    expect(make("node", assess).digest).toBe(make("node", changed).digest);
    expect(make("name", assess).digest).not.toBe(make("name", renamed).digest);
    expect(make("source", assess).digest).toBe(make("source", renamed).digest);
    expect(make("source", assess).digest).not.toBe(make("source", changed).digest);
    // Bundlers rename declarations; their text without the name is the same.
    function three(s: S) {
      return { sum: s.n };
    }
    function four$2(s: S) {
      return { sum: s.n };
    }
    expect(make("source", three).digest).toBe(make("source", four$2).digest);
  });

  it("FLOW-63 refuses to spend where a payload, when or arguments would be others now, and names the field", async () => {
    ran = [];
    let now = { when: true, payload: 1, args: 1, throws: false };
    const f = flow("f", State)
      .node("start", () => ({}))
      .gate("look", {
        when: () => now.when,
        payload: (s) => {
          if (now.throws) throw new Error("gone");
          return { n: s.n * now.payload };
        },
      })
      .call("pay", tool("act"), { args: (s) => ({ n: s.n * now.args }) })
      .edge("start", "look")
      .edge("start", "pay")
      .build();
    const { runner, count } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    const cases = [
      [{ when: false }, "look#1", "when"],
      [{ payload: 2 }, "look#1", "payload"],
      [{ throws: true }, "look#1", "payload"],
      [{ args: 2 }, "pay#1", "args"],
    ] as const;
    const id = first.pendings.map((pending) => pending.id);
    const all = replies({ [id[0]!]: yes(), [id[1]!]: yes() });
    for (const [change, node, field] of cases) {
      now = { when: true, payload: 1, args: 1, throws: false, ...change };
      const other = runner();
      const error = await rejection(other.resume(f, other.loadCheckpoint(f, text), all));
      expect(error).toMatchObject({
        code: "graph-version-mismatch",
        data: { node, field, flow: "f" },
      });
    }
    expect(await count("pending")).toBe(2);
    expect(ran).toEqual([]);
    now = { when: true, payload: 1, args: 1, throws: false };
    stateOf(await runner().resume(f, first.checkpoint, all));
    expect(ran).toEqual(["act"]);
  });

  it("FLOW-63 refuses a payload or arguments that differ each time, at the pause, and asks nobody", async () => {
    let drawn = 0;
    const port = recordlessPort();
    const { runner, logged } = world({ approvals: port });
    const gate = flow("f", State)
      .gate("look", { payload: () => ({ id: (drawn += 1) }) })
      .build();
    expect(await rejection(runner().run(gate, { n: 1 }))).toMatchObject({
      code: "payload-not-pure",
      data: { node: "look#1", field: "payload", flow: "f" },
    });
    const call = flow("f", State)
      .call("pay", tool("act"), { args: () => ({ n: (drawn += 1) }) })
      .build();
    expect(await rejection(runner().run(call, { n: 1 }))).toMatchObject({
      code: "payload-not-pure",
      data: { node: "pay#1", field: "args" },
    });
    const when = flow("f", State)
      .gate("look", { payload: (s) => s.n, when: () => (drawn += 1) % 2 === 0 })
      .build();
    drawn = 1;
    expect(await rejection(runner().run(when, { n: 1 }))).toMatchObject({
      code: "payload-not-pure",
      data: { field: "when" },
    });
    expect(port.requests).toEqual([]);
    expect(logged).toEqual([]);
  });

  it("FLOW-63 refuses them also where the port does not prepare, and takes back what it asked", async () => {
    let drawn = 0;
    const f = flow("f", State)
      .call("pay", tool("act"), { args: () => ({ n: (drawn += 1) }) })
      .build();
    const { runner, logged } = world({
      approvals: { request: async () => ({ status: "pending", approvalId: "ask-1" }) },
    });
    expect(await rejection(runner().run(f, { n: 1 }))).toMatchObject({
      code: "payload-not-pure",
      data: { node: "pay#1", field: "args" },
    });
    expect(logged).toMatchObject([
      { facts: { approvalId: "ask-1", reason: "state-not-sealable" } },
    ]);
  });

  it("FLOW-63 evaluates arguments once where nobody waits", async () => {
    let drawn = 0;
    const { free } = effects();
    const f = flow("f", State)
      .call("pay", free, { args: () => ({ n: (drawn += 1) }), into: (r) => ({ sum: r.got }) })
      .build();
    expect(stateOf(await new FlowRunner().run(f, { n: 1 })).sum).toBe(10);
    expect(drawn).toBe(1);
  });

  it("CASE-042 FLOW-06 does not ask a taken route again at a resume", async () => {
    const { gated } = effects();
    let asked = 0;
    const f = flow("f", State)
      .node("a", () => ({}))
      .call("b", gated, { args: { n: 1 } })
      .node("c", () => ({}))
      .route("a", ["b", "c"], () => {
        asked += 1;
        return "b";
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(asked).toBe(1);
  });
});
