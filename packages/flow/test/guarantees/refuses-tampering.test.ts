import { inspect } from "node:util";

import { createKeyring, keyringOf, sign, type Header, type Purpose } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { Checkpoint, flow, FlowRunner } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import {
  asAnotherProcess,
  keyring,
  paused,
  rejection,
  stateOf,
  world,
  yes,
} from "../support/world.ts";

const State = z.object({ n: z.number(), secret: z.string(), sum: z.number().optional() });
const input = { n: 1, secret: "canary-4711" };

async function waiting() {
  const { log, free, gated } = effects();
  const f = flow("f", State)
    .node("a", async (s, ctx) => {
      const one = await ctx.call(free, { n: s.n });
      return { sum: (await ctx.call(gated, { n: one.got })).got };
    })
    .build();
  const here = world();
  const first = paused(await here.runner().run(f, input, { runId: "run-1" }));
  const text = here.runner().dumpCheckpoint(first.checkpoint);
  return { ...here, log, f, first, text, envelope: JSON.parse(text) as Record<string, unknown> };
}

/** A checkpoint that holds this text, as a clone of one would. */
const holding = (text: string): Checkpoint =>
  ({ sealed: new TextEncoder().encode(text) }) as unknown as Checkpoint;

const tampered = { code: "checkpoint-tampered" };

describe("a checkpoint that was touched is refused, with nothing run and no record moved", () => {
  it("FLOW-50 refuses bytes that changed in place after this very runner made, or loaded, the checkpoint", async () => {
    const { f, text, port, log } = await waiting();
    const mine = new FlowRunner({ approvals: port, keyring });
    const touched = (checkpoint: Checkpoint): Checkpoint => {
      checkpoint.sealed[checkpoint.sealed.length - 20]! ^= 1;
      return checkpoint;
    };
    const made = touched(paused(await mine.run(f, input, { runId: "run-2" })).checkpoint);
    const loaded = touched(mine.loadCheckpoint(f, text));
    const before = [...log];
    for (const checkpoint of [made, loaded]) {
      expect(() => mine.dumpCheckpoint(checkpoint)).toThrow(expect.objectContaining(tampered));
      expect(await rejection(mine.resume(f, checkpoint, yes()))).toMatchObject(tampered);
    }
    expect([...log]).toEqual(before);
  });

  it("FLOW-51 checks a loaded checkpoint again where it is passed with another graph or run id", async () => {
    const { f, text, port } = await waiting();
    const mine = new FlowRunner({ approvals: port, keyring });
    const other = flow("f", State)
      .node("a", () => ({ sum: 1 }))
      .node("b", () => {})
      .path("a", "b")
      .build();
    expect(await rejection(mine.resume(other, mine.loadCheckpoint(f, text), yes()))).toMatchObject({
      code: "graph-version-mismatch",
    });
    const loaded = mine.loadCheckpoint(f, text);
    expect(await rejection(mine.resume(f, loaded, yes(), { runId: "run-9" }))).toMatchObject({
      code: "graph-run-mismatch",
    });
  });

  it("FLOW-50 refuses every single field of the envelope and of its header, changed one at a time", async () => {
    const { log, f, text, envelope, runner, port, store, first } = await waiting();
    const before = await port.records.read("default", first.pending.id);
    const version = (await store.get("default", first.pending.id))!.version;
    const commits = await store.lastChange("default");
    const other = (value: unknown): unknown[] => {
      if (typeof value === "number") return [value + 1, String(value), null];
      if (typeof value === "string")
        return [`${value} `, value.slice(1), value.toUpperCase() + "x", null, 7, [value]];
      return [null, "", 0];
    };
    const changes: string[] = [];
    for (const [name, value] of Object.entries(envelope)) {
      for (const changed of other(value))
        changes.push(JSON.stringify({ ...envelope, [name]: changed }));
      const { [name]: _, ...without } = envelope;
      changes.push(JSON.stringify(without), JSON.stringify({ ...without, [`${name}x`]: value }));
    }
    expect(Object.keys(envelope)).toEqual(
      expect.arrayContaining([
        "v",
        "purpose",
        "kid",
        "body",
        "mac",
        "run",
        "flow",
        "graph",
        "parts",
        "rev",
        "phase",
        "scope",
        "format",
      ]),
    );
    changes.push(JSON.stringify({ ...envelope, alg: "none" }));
    for (const changed of changes) {
      expect(changed).not.toBe(text);
      const error = await rejection(runner().resume(f, holding(changed), yes()));
      expect(error).toMatchObject(tampered);
      expect(() => runner().loadCheckpoint(f, changed)).toThrow(expect.objectContaining(tampered));
    }
    expect(changes.length).toBeGreaterThan(80);
    expect(log).toEqual(["free(1)"]);
    expect(await port.records.read("default", first.pending.id)).toEqual(before);
    expect((await store.get("default", first.pending.id))!.version).toBe(version);
    expect(await store.lastChange("default")).toBe(commits);
    stateOf(await runner().resume(f, holding(text), yes()));
  });

  it("FLOW-50 refuses a flip of any byte of the sealed text", async () => {
    const { log, f, text, runner, port, first } = await waiting();
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice();
      changed[at]! ^= 1 << (at % 7);
      const error = await rejection(
        runner().resume(f, { sealed: changed } as unknown as Checkpoint, yes()),
      );
      expect(error).toMatchObject(tampered);
    }
    expect(await port.records.read("default", first.pending.id)).toMatchObject({
      state: "pending",
    });
    expect(log).toEqual(["free(1)"]);
  });

  it("FLOW-50 refuses every leaf of the sealed body, changed one at a time", async () => {
    const { log, f, envelope, runner, count } = await waiting();
    const body = JSON.parse(envelope["body"] as string) as unknown;
    let leaves = 0;
    const changed: string[] = [];
    const walk = (value: unknown, put: (value: unknown) => unknown): void => {
      if (typeof value === "object" && value !== null) {
        for (const key of Object.keys(value))
          walk((value as Record<string, unknown>)[key], (part) =>
            put(
              Array.isArray(value)
                ? Object.assign([...(value as unknown[])], { [key]: part })
                : { ...value, [key]: part },
            ),
          );
        return;
      }
      leaves += 1;
      const other =
        typeof value === "number" ? value + 1 : typeof value === "boolean" ? !value : "else";
      changed.push(JSON.stringify({ ...envelope, body: JSON.stringify(put(other)) }));
    };
    walk(body, (value) => value);
    expect(leaves).toBeGreaterThan(40);
    for (const text of changed)
      expect(() => runner().loadCheckpoint(f, text)).toThrow(expect.objectContaining(tampered));
    expect(await count("pending")).toBe(1);
    expect(log).toEqual(["free(1)"]);
  });

  it("FLOW-50 R054 refuses another version, a seal that is no text, and what is no checkpoint at all", async () => {
    const { log, f, envelope, runner } = await waiting();
    const versions = [0, 99, undefined, "1"].map((v) => JSON.stringify({ ...envelope, v }));
    const macs = [7, null, [1, 2], { 0: 1 }, "", "AA", `${String(envelope["mac"])}AA`].map((mac) =>
      JSON.stringify({ ...envelope, mac }),
    );
    const others = [
      "",
      "{}",
      "null",
      "[]",
      "7",
      "{",
      `${JSON.stringify(envelope)} `.slice(0, -9),
      "\ud800",
    ];
    for (const text of [...versions, ...macs, ...others]) {
      expect(() => runner().loadCheckpoint(f, text)).toThrow(expect.objectContaining(tampered));
      expect(await rejection(runner().resume(f, holding(text), yes()))).toMatchObject(tampered);
    }
    for (const nothing of [undefined, null, 7, {}, { sealed: "text" }, { sealed: [1] }])
      expect(await rejection(runner().resume(f, nothing as never, yes()))).toMatchObject(tampered);
    for (const nothing of [undefined, null, 7, {}])
      expect(() => runner().loadCheckpoint(f, nothing as never)).toThrow(
        expect.objectContaining(tampered),
      );
    expect(log).toEqual(["free(1)"]);
  });

  it("FLOW-50 refuses one sealed under another key, and dumps none that it could not load", async () => {
    const { log, f, text, first, runner, port } = await waiting();
    const strange = new FlowRunner({
      approvals: port,
      keyring: keyringOf(new Uint8Array(32).fill(8)),
    });
    expect(() => strange.loadCheckpoint(f, text)).toThrow(expect.objectContaining(tampered));
    expect(() => strange.dumpCheckpoint(first.checkpoint)).toThrow(
      expect.objectContaining(tampered),
    );
    expect(await rejection(strange.resume(f, first.checkpoint, yes()))).toMatchObject(tampered);
    expect(() => new FlowRunner().dumpCheckpoint(first.checkpoint)).toThrow(
      expect.objectContaining(tampered),
    );
    const rotated = createKeyring({
      current: { id: "k2", key: new Uint8Array(32).fill(9) },
      retired: [{ id: "k1", key: new Uint8Array(32).fill(7) }],
    });
    expect(log).toEqual(["free(1)"]);
    const later = runner({ keyring: rotated });
    stateOf(await later.resume(f, later.loadCheckpoint(f, text), yes()));
  });

  it("R051 FLOW-51 refuses a genuine seal of another run, flow, scope, revision or purpose, each by its name", async () => {
    const { log, f, envelope, first, text, runner, count } = await waiting();
    const expectRefusal = async (promise: Promise<unknown>, code: string) =>
      expect(await rejection(promise)).toMatchObject({ code });
    // another run than asked for
    await expectRefusal(
      runner().resume(f, first.checkpoint, yes(), { runId: "run-2" }),
      "graph-run-mismatch",
    );
    // another flow
    const g = flow("g", State)
      .node("a", () => ({}))
      .build();
    await expectRefusal(runner().resume(g, first.checkpoint, yes()), "graph-mismatch");
    // another scope
    await expectRefusal(
      runner({ scope: "elsewhere" }).resume(f, first.checkpoint, yes()),
      "checkpoint-tampered",
    );
    // another purpose, and contradictions between header and body, all under the genuine key
    const {
      body,
      mac: _mac,
      v: _v,
      kid: _kid,
      purpose: _purpose,
      ...header
    } = envelope as Header & { body: string };
    const seal = (more: Header, purpose: Purpose = "checkpoint") =>
      sign(body, { keyring, purpose, header: { ...header, ...more } }).text;
    expect(runner().loadCheckpoint(f, seal({})).runId).toBe("run-1");
    await expectRefusal(
      runner().resume(f, holding(seal({}, "log-entry")), yes()),
      "checkpoint-tampered",
    );
    await expectRefusal(
      runner().resume(f, holding(seal({ run: "run-2" })), yes()),
      "checkpoint-tampered",
    );
    await expectRefusal(
      runner().resume(f, holding(seal({ rev: 1 })), yes()),
      "checkpoint-tampered",
    );
    await expectRefusal(
      runner().resume(f, holding(seal({ format: 2 })), yes()),
      "checkpoint-tampered",
    );
    await expectRefusal(
      runner().resume(f, holding(seal({ phase: "completed" })), yes()),
      "resume-terminal",
    );
    expect(await count("pending")).toBe(1);
    expect(log).toEqual(["free(1)"]);
    stateOf(await runner().resume(f, holding(text), yes(), { runId: "run-1" }));
  });

  it("FLOW-29 FLOW-70 shows where it stands, and prints neither arguments nor state", async () => {
    const { log, f, first, runner } = await waiting();
    const { checkpoint } = first;
    expect(checkpoint).toBeInstanceOf(Checkpoint);
    expect(checkpoint.toJSON()).toEqual({
      runId: "run-1",
      flow: "f",
      digest: f.digest,
      status: "paused",
      revision: checkpoint.revision,
      counters: { rounds: 1, calls: 1, cost: 0, visits: { a: 1 } },
      frontier: ["a#1"],
      pendings: [{ kind: "approval", id: first.pending.id, path: "a#1", tool: "gated" }],
    });
    expect(checkpoint.state).toEqual(input);
    const printed = [
      checkpoint,
      first,
      structuredClone(checkpoint),
      structuredClone(first),
      { first },
    ]
      .flatMap((value) => [
        inspect(value, { depth: 20 }),
        JSON.stringify(value),
        `${value as unknown as string}`,
        inspect(value, { depth: 20, customInspect: false }),
      ])
      .join("\n");
    expect(printed).not.toContain("canary-4711");
    expect(printed).not.toContain('"n":10');
    expect(() => ((checkpoint.pendings as unknown[]).length = 0)).toThrow(TypeError);
    const clone = structuredClone(first);
    expect((clone.pending.request as { arguments?: unknown }).arguments).toBeUndefined();
    asAnotherProcess();
    stateOf(await runner().resume(f, clone.checkpoint as Checkpoint, yes()));
    expect(log).toEqual(["free(1)", "gated(10)"]);
  });

  it("FLOW-70 is gone on from by its sealed bytes, whatever else of it was changed", async () => {
    const { log, f, first, runner } = await waiting();
    const dressed = Object.assign(structuredClone(first.checkpoint), {
      runId: "other",
      flow: "other",
      pendings: [],
      frontier: ["nowhere#1"],
      state: { n: 9 },
    });
    expect(stateOf(await runner().resume(f, dressed as unknown as Checkpoint, yes())).sum).toBe(
      100,
    );
    expect(log).toEqual(["free(1)", "gated(10)"]);
  });

  it("CASE-040 goes on once from a text that was loaded twice, and shares nothing between the two", async () => {
    const { log, f, text, runner } = await waiting();
    const [one, two] = [runner(), runner()];
    const [a, b] = [one.loadCheckpoint(f, text), two.loadCheckpoint(f, text)];
    expect(a.state).not.toBe(b.state);
    stateOf(await one.resume(f, a, yes()));
    expect(b.state).toEqual(input);
    expect(await rejection(two.resume(f, b, yes()))).toMatchObject({
      code: "approval-already-decided",
    });
    expect(log).toEqual(["free(1)", "gated(10)"]);
  });
});
