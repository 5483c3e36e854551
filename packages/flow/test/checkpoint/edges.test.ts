// Rare ways through sealing and opening: entries put in other places, keys out of reach, codecs that give something else each time.
import { memoryHome, type ApprovalPort } from "@holdpoint/approvals";
import { createKeyring, defineCodec, sign } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  checkState,
  decodedState,
  openCheckpoint,
  phaseHolds,
  readableBy,
} from "../../src/checkpoint/open.ts";
import { encodeState, sealRun } from "../../src/checkpoint/seal.ts";
import { graphHeader } from "../../src/checkpoint/graph-header.ts";
import { madeWhole, Repeats } from "../../src/checkpoint/repeats.ts";
import { snapshotBody } from "../../src/checkpoint/snapshot.ts";
import { graphOf } from "../../src/graph/flow.ts";
import {
  flow,
  FlowRunner,
  memoryRunLog,
  replies,
  type Flow,
  type RunLog,
} from "../../src/index.ts";
import { resolveOptions } from "../../src/run/options.ts";
import type { RunState } from "../../src/run/state.ts";
import { breakingStore } from "../support/breaking-store.ts";
import { effects } from "../support/effects.ts";
import { one } from "../support/one-call.ts";
import { keyring, paused, rejection, stateOf, world, yes } from "../support/world.ts";

const scope = "default";

/** A log whose rows come as they are made by `put`. */
function rowsOf(log: RunLog, put: (text: string, revision: number) => string): RunLog {
  return Object.assign(Object.create(log) as RunLog, {
    read: async (...[of, run, after, limit]: Parameters<RunLog["read"]>) =>
      (await log.read(of, run, after, limit)).map(({ revision, text }) => ({
        revision,
        text: put(text, revision),
      })),
  });
}

/** A loop of so many rounds, then a gate. What its rounds add is alike, so that its log repeats itself. */
function looping(rounds: number) {
  const { log, tool, gated } = effects();
  const note = tool("note", { idempotent: true });
  const Loop = z.object({ n: z.number(), seen: z.array(z.string()), sum: z.number().optional() });
  const f = flow("loop", Loop)
    .node("one", async ({ n, seen }, ctx) => {
      await ctx.call(note, { n });
      return { n: n + 1, seen: [...seen, `round ${n}${" of a loop".repeat(120)}`] };
    })
    .call("pay", gated, { args: (s) => ({ n: s.n }), into: (r) => ({ sum: r.got }) })
    .route("one", ["one", "pay"], ({ n }) => (n < rounds ? "one" : "pay"))
    .build();
  return { log, f };
}
const from = { n: 0, seen: [] };

describe("a log's entry", () => {
  it("FLOW-50 FLOW-73 of another run is refused at the place that a snapshot names, though its own seal holds", async () => {
    const home = memoryHome();
    const log = memoryRunLog(home);
    const { f, log: done } = looping(80);
    const { runner } = world({ log });
    paused(await runner().run(f, from, { runId: "r" }));
    paused(await runner().run(f, from, { runId: "other" }));
    const { revision } = (await log.snapshot(scope, "r"))!;
    const [foreign] = await log.read(scope, "other", revision - 1, 1);
    done.length = 0;
    const swapped = rowsOf(log, (text, at) => (at === revision ? foreign!.text : text));
    expect(await rejection(runner({ log: swapped }).adopt(f, "r"))).toMatchObject({
      code: "checkpoint-tampered",
      data: { runId: "r", revision },
    });
    // An entry that is missing there shows as the next one in its place.
    const gap: RunLog = Object.assign(Object.create(log) as RunLog, {
      read: async (of: string, run: string, after: number, limit: number) =>
        (await log.read(of, run, after, limit)).filter((row) => row.revision !== revision),
    });
    expect(await rejection(runner({ log: gap }).adopt(f, "r"))).toMatchObject({
      code: "checkpoint-tampered",
      data: { runId: "r", revision },
    });
    expect(done).toEqual([]);
  });

  it("FLOW-50 FLOW-73 is of one run in one scope: a whole log is refused under another run's id, and in another scope", async () => {
    const log = memoryRunLog();
    const { f, log: done } = looping(80);
    const { runner } = world({ log });
    paused(await runner().run(f, from, { runId: "r" }));
    const stranger = { scope: "elsewhere" };
    paused(await runner(stranger).run(f, from, { runId: "r" }));
    done.length = 0;
    /** All that is kept of a run, read as if it were kept of another. */
    const keptAs = (inScope: string, isWhole: boolean): RunLog =>
      Object.assign(Object.create(log) as RunLog, {
        head: () => log.head(inScope, "r"),
        read: (_of: string, _run: string, after: number, limit: number) =>
          log.read(inScope, "r", after, limit),
        snapshot: async () => (isWhole ? log.snapshot(inScope, "r") : undefined),
      });
    for (const isWhole of [true, false]) {
      const error = { code: "checkpoint-tampered" };
      const foreign = runner({ log: keptAs("elsewhere", isWhole) });
      expect(await rejection(foreign.adopt(f, "r"))).toMatchObject(error);
      expect(await rejection(foreign.resume(f, "r"))).toMatchObject(error);
      const renamed = runner({ log: keptAs(scope, isWhole) });
      expect(await rejection(renamed.adopt(f, "s"))).toMatchObject(error);
      const own = runner({ ...stranger, log: keptAs("elsewhere", isWhole) });
      paused(await own.adopt(f, "r"));
    }
    expect(done).toEqual([]);
  });

  it("FLOW-73 says nothing of who asked for a run that nobody asked for", async () => {
    const log = memoryRunLog();
    const { f } = one();
    const { runner } = world({ log });
    const rita = { id: "rita", assurance: "verified" } as const;
    paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    paused(await runner().run(f, { n: 1 }, { runId: "by", requestedBy: rita }));
    const first = async (run: string) => (await log.read(scope, run, 0, 1))[0]!.text;
    expect(await first("r")).not.toContain("requestedBy");
    expect(await first("by")).toContain("requestedBy");
  });

  it("FLOW-73 that repeats what is not there is refused, naming it", async () => {
    const log = memoryRunLog();
    const { f, log: done } = looping(20);
    const { runner } = world({ log });
    paused(await runner().run(f, from, { runId: "r" }));
    const kept = await log.read(scope, "r", 0, 1_000);
    const repeating = kept.find(({ text }) => text.startsWith("~"))!;
    done.length = 0;
    const torn = [
      repeating.text.replace(/ \d+\./, ` ${repeating.revision}.`), // of itself
      repeating.text.replace(/ (\d+)\.\d+\./, " $1.99999999."), // past its end
      repeating.text.replace("\n", " "),
    ];
    for (const text of torn) {
      const other = rowsOf(log, (was, at) => (at === repeating.revision ? text : was));
      expect(await rejection(runner({ log: other }).adopt(f, "r"))).toMatchObject({
        code: "checkpoint-tampered",
        data: { runId: "r", revision: repeating.revision },
      });
    }
    expect(done).toEqual([]);
  });

  it("FLOW-73 is cut between characters at both of its ends, and compared in long stretches", () => {
    // Two characters that begin alike, and two that end alike.
    const [man, woman] = ["\u{1F468}", "\u{1F469}"];
    const [fox, pen] = ["\u{1F98A}", "\u{1F58A}"];
    expect([woman[0], fox[1]]).toEqual([man[0], pen[1]]);
    const part = "a text of some length ".repeat(20_000); // 440,000 characters
    const texts = [`{${fox}${part}${man}`, `{${pen}${part}${woman}}`, `${fox}${part}${fox}`];
    const repeats = new Repeats();
    const whole = new Map<number, string>();
    for (const [at, text] of texts.entries()) {
      const kept = repeats.cut(at + 1, text);
      expect(kept).not.toMatch(/\p{Surrogate}/u);
      expect(kept.length < 2_000).toBe(at > 0);
      whole.set(
        at + 1,
        madeWhole(kept, (revision) => whole.get(revision))!,
      );
    }
    expect([...whole.values()]).toEqual(texts);
  });
});

describe("a key that is out of reach", () => {
  const fault = new Error("the key server does not answer");
  function keys() {
    let isOut = false;
    const ring = createKeyring({
      current: { id: "k1", key: new Uint8Array(32).fill(7) },
      mac: {
        prepare(key) {
          const mac = nodeMac.prepare(key);
          return (head, body) => {
            if (isOut) throw fault;
            return mac(head, body);
          };
        },
      },
    });
    return { ring, out: (is: boolean) => void (isOut = is) };
  }

  it("FLOW-50 FLOW-61 is told of as it is, and not as tampering: nothing is spent, and the run goes on when it is back", async () => {
    for (const durable of [true, false]) {
      const { ring, out } = keys();
      const { log, f } = one();
      const { runner, count } = world({ keyring: ring, ...(durable && { log: memoryRunLog() }) });
      const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
      const text = runner().dumpCheckpoint(first.checkpoint);
      const { id } = first.pending;
      const resume = (by: FlowRunner) =>
        durable
          ? by.resume(f, "r", replies({ [id]: yes() }))
          : by.resume(f, by.loadCheckpoint(f, text), yes());
      out(true);
      expect(await rejection((async () => resume(runner()))())).toBe(fault);
      expect([await count("pending"), log]).toEqual([1, []]);
      out(false);
      stateOf(await resume(runner()));
      expect(log).toEqual(["gated(1)"]);
    }
  });
});

describe("a state", () => {
  class Point {
    readonly x: number;
    constructor(x: number) {
      this.x = x;
    }
  }
  let written = 0;
  /** Another text each time. */
  const wavering = defineCodec({
    type: "point",
    is: (value): value is Point => value instanceof Point,
    encode: (point: Point) => ({ x: point.x, at: (written += 1) }),
    decode: ({ x }: { x: number }) => new Point(x),
  });
  const Loose = z.object({ n: z.number(), at: z.any() });

  it("FLOW-26 FLOW-71 that is sealed as something else each time is shown to nobody", async () => {
    const { gated, log } = effects();
    const f = flow("f", Loose)
      .node("put", () => ({ at: new Point(1) }))
      .call("pay", gated, { args: (s) => ({ n: s.n }) })
      .path("put", "pay")
      .build();
    const { runner, count } = world({ codecs: [wavering as never] });
    expect(await rejection(runner().run(f, { n: 1, at: undefined }))).toMatchObject({
      code: "state-not-sealable",
      message: expect.stringContaining("does not come back from its seal as it went in") as string,
    });
    expect([await count("pending"), log]).toEqual([0, []]);
  });

  it("FLOW-72 that no snapshot can be taken of goes on without one", async () => {
    const log = memoryRunLog();
    const f = flow("f", Loose)
      .node("put", (s) => ({ n: s.n + 1, at: new Point(s.n) }))
      .route("put", ["put", "$end"], (s) => (s.n < 150 ? "put" : "$end"))
      .build();
    const { runner } = world({ log, codecs: [wavering as never] });
    expect(stateOf(await runner().run(f, { n: 0, at: undefined }, { runId: "r" })).n).toBe(150);
    expect(await log.head(scope, "r")).toBeGreaterThan(300);
    expect(await log.snapshot(scope, "r")).toBeUndefined();
  });

  /** What a paused run is made of, and what opens it. */
  async function standing() {
    const { f, log } = one();
    const { runner } = world();
    const text = runner().dumpCheckpoint(paused(await runner().run(f, { n: 1 })).checkpoint);
    const { parts } = resolveOptions({ keyring });
    const graph = graphOf(f);
    const { state } = openCheckpoint(graph, parts, text, { scope });
    return { f, log, runner, text, parts, graph, state };
  }

  it("FLOW-26 FLOW-72 whose encoding or decoding fails by a fault says that fault, and no verdict on the state", async () => {
    const { graph, parts, state } = await standing();
    const fault = new RangeError("out of memory");
    const throws = () => {
      throw fault;
    };
    const broken = { ...parts, sealer: { ...parts.sealer, encode: throws, decode: throws } };
    expect(() => snapshotBody(state, graph, broken)).toThrow(fault);
    expect(() => encodeState(state, graph, broken)).toThrow(fault);
    expect(() => decodedState(graph, broken, "r", "{}")).toThrow(fault);
    expect(snapshotBody(state, graph, parts)).toBe(encodeState(state, graph, parts));
  });

  it("FLOW-60 of a run that was routed has begun nothing within", async () => {
    const { state } = await standing();
    const { visits } = state;
    const ready = visits.map((visit) => ({ ...visit, status: "ready" as const }));
    const routed = { ...state, phase: { is: "routed" as const }, visits: ready } as RunState;
    expect(phaseHolds(routed)).toBe(true);
    const frames = new Map([["pay#1/within.0", { ...routed, nodeVisits: {} }]]);
    expect(phaseHolds({ ...routed, frames } as unknown as RunState)).toBe(false);
  });

  it("FLOW-60 of a run that ended is refused as ended, under a seal that says so", async () => {
    const { f, runner, parts, graph, state } = await standing();
    const ended: RunState = { ...state, visits: [], phase: { is: "ended", how: "completed" } };
    const text = sealRun(encodeState(ended, graph, parts), ended, parts);
    expect(() => runner().loadCheckpoint(f, text)).toThrow(
      expect.objectContaining({ code: "resume-terminal" }),
    );
  });

  it("FLOW-63 whose waiting visit is of another kind than its node is refused, naming that", async () => {
    const { f, runner, parts, graph, state } = await standing();
    const [visit] = state.visits;
    const kinds = {
      gate: { kind: "gate", asks: true, payload: { form: "value", value: 1 } },
      map: { kind: "map", items: { form: "value", value: [1] } },
      subflow: { kind: "subflow", input: { form: "value", value: { n: 1 } } },
    } as const;
    for (const inputs of Object.values(kinds)) {
      const other = { ...state, visits: [{ ...visit, inputs }] } as RunState;
      const text = sealRun(encodeState(other, graph, parts), other, parts);
      expect(
        await rejection(runner().resume(f, runner().loadCheckpoint(f, text), yes())),
      ).toMatchObject({ code: "graph-version-mismatch", data: { node: "pay#1", field: "kind" } });
    }
    expect(() => checkState(graph, state)).not.toThrow();
  });

  it("FLOW-53 of one flow is read without the schemas that migrations of another name", async () => {
    const { graph, parts } = await standing();
    const step = { from: "a", to: "b", reads: z.object({ old: z.string() }) };
    const other = { ...parts, migrations: [{ ...step, flow: "another" }] };
    expect(readableBy(graph, other)).toEqual([...graph.reachable]);
    const own = { ...parts, migrations: [{ ...step, flow: "f" }] };
    expect(readableBy(graph, own)).toEqual([...graph.reachable, step.reads]);
  });
});

describe("a snapshot", () => {
  it("FLOW-50 FLOW-72 that says one thing in its header and another within is refused", async () => {
    const log = memoryRunLog();
    const { f, log: done } = looping(80);
    const { runner } = world({ log });
    paused(await runner().run(f, from, { runId: "r" }));
    const row = (await log.snapshot(scope, "r"))!;
    const { parts } = resolveOptions({ keyring });
    const graph = graphOf(f);
    const entries = await log.read(scope, "r", 0, 1_000);
    const { mac: entry } = JSON.parse(entries[row.revision - 1]!.text) as { mac: string };
    const body = (JSON.parse(row.text) as { body: string }).body;
    const state = decodedState(graph, parts, "r", body);
    const seed = { ...state.seed, manifest: graph.manifest };
    const header = { format: 1, scope, run: "r", ...graphHeader(seed), rev: row.revision, entry };
    const signed = (told: RunState): RunLog =>
      Object.assign(Object.create(log) as RunLog, {
        snapshot: async () => ({
          ...row,
          text: sign(encodeState(told, graph, parts), { keyring, purpose: "run-snapshot", header })
            .text,
        }),
      });
    done.length = 0;
    for (const told of [
      { ...state, seed: { ...state.seed, runId: "other" } },
      { ...state, revision: state.revision - 1 },
    ]) {
      expect(await rejection(runner({ log: signed(told) }).adopt(f, "r"))).toMatchObject({
        code: "checkpoint-tampered",
        message: expect.stringContaining("contradicts itself") as string,
      });
    }
    paused(await runner({ log: signed(state) }).adopt(f, "r"));
    expect(done).toEqual([]);
  });

  it("FLOW-72 FLOW-77 taken while an approval is being spent has that on it, and the spending is finished from there", async () => {
    let taken = 0;
    for (let rounds = 46; rounds < 66; rounds += 1) {
      const { f, log: done } = looping(rounds);
      const store = breakingStore();
      const log = memoryRunLog();
      const { runner, port, outcomes } = world({ store, log });
      const first = paused(await runner().run(f, from, { runId: "r" }));
      const before = (await log.snapshot(scope, "r"))?.revision;
      await port.records.decide({ scope, id: first.pending.id, decision: yes() });
      store.fail("down"); // what was announced is not done, and is for whoever takes the run up
      expect(await rejection(runner().resume(f, "r"))).toMatchObject({
        code: "store-unavailable",
      });
      const after = (await log.snapshot(scope, "r"))?.revision;
      if (after !== before && after === (await log.head(scope, "r"))) taken += 1;
      expect(stateOf(await runner().adopt(f, "r")).sum).toBe(rounds * 10);
      expect(done.filter((line) => line.startsWith("gated"))).toHaveLength(1);
      expect(await outcomes()).toEqual(["executed"]);
    }
    expect(taken).toBeGreaterThan(0);
  });
});

describe("a state that was looked at before", () => {
  const Any = z.object({ n: z.number(), odd: z.any() });

  it("FLOW-26 is looked at again for what has come in since: nobody is asked a second time over what can't be sealed", async () => {
    const { gated, other, log } = effects();
    const f = flow("f", Any)
      .call("first", gated, { args: { n: 1 }, into: () => ({ odd: () => 1 }) })
      .call("second", other, { args: { n: 2 }, into: () => ({}) })
      .path("first", "second")
      .build();
    const asked: string[] = [];
    const prompt: ApprovalPort = {
      async request(request, how) {
        await how.prepare();
        asked.push(request.tool);
        const decision = { approved: true, by: { id: "dana", assurance: "none" as const }, at: 1 };
        return { status: "decided", decision };
      },
    };
    const { runner } = world({ approvals: prompt });
    expect(await rejection(runner().run(f, { n: 1, odd: 0 }))).toMatchObject({
      code: "state-not-sealable",
    });
    expect([asked, log]).toEqual([["gated"], ["gated(1)"]]);
  });

  it("FLOW-50 of another flow is refused by the run's own id", async () => {
    const { f } = one();
    const other = flow("g", Any)
      .node("a", () => ({}))
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }, { runId: "r-17" }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    expect(() => runner().loadCheckpoint(other, text)).toThrow(
      expect.objectContaining({ code: "graph-mismatch", data: { runId: "r-17", flow: "g" } }),
    );
  });
});

describe("a graph too large for a header", () => {
  const Count = z.object({ n: z.number() });
  type Count = z.output<typeof Count>;
  const pad = "a_node_with_a_name_as_long_as_any_name_may_be_";
  /** So many nodes of long names, and a gate at the end. */
  function long(nodes: number, gate = "look"): Flow<Count, Count> {
    const names = Array.from({ length: nodes }, (_, index) => `${pad}${index}`);
    // oxlint-disable-next-line typescript/no-explicit-any
    let b: any = flow("f", Count);
    for (const name of names) b = b.node(name, (s: Count) => ({ n: s.n + 1 }));
    return b
      .gate(gate, { payload: (s: Count) => s.n })
      .path(...names, gate)
      .build() as Flow<Count, Count>;
  }

  it("FLOW-51 FLOW-72 is taken up from a snapshot that names no parts, and refused once it has changed", async () => {
    const was = long(450);
    const log = memoryRunLog();
    const { runner } = world({ log });
    const first = paused(await runner().run(was, { n: 0 }, { runId: "r" }));
    expect(await log.snapshot(scope, "r")).toBeDefined();
    expect(await rejection(runner().adopt(long(449), "r"))).toMatchObject({
      code: "graph-version-mismatch",
      data: { differs: [] },
    });
    const reply = replies({ [first.pending.id]: yes() });
    expect(stateOf(await runner().resume(was, "r", reply)).n).toBe(450);
  });

  it("FLOW-53 is carried over by its migration though its parts are not known", async () => {
    const was = long(450);
    const is = long(450, "check");
    const migration = { flow: "f", from: was.digest, to: is.digest, nodes: { look: "check" } };
    const { runner } = world();
    const first = paused(await runner().run(was, { n: 0 }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    expect(() => runner().loadCheckpoint(is, text)).toThrow(/too many parts/);
    const carrying = runner({ migrations: [migration] });
    const state = stateOf(await carrying.resume(is, carrying.loadCheckpoint(is, text), yes()));
    expect(state.n).toBe(450);
  });
});
