import { createKeyring, sign, verify } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { openCheckpoint } from "../../src/checkpoint/open.ts";
import { encodeState } from "../../src/checkpoint/seal.ts";
import { graphOf } from "../../src/graph/flow.ts";
import { flow } from "../../src/index.ts";
import { resolveOptions } from "../../src/run/options.ts";
import { keyring, paused, rejection, stateOf, world, yes } from "../support/world.ts";

const long = (n: number): string => `${n}:`.padEnd(600, 'a "quoted" line\n');

/** A node with long results and short ones, then a question with long arguments. */
function reading() {
  let reads = 0;
  const read = defineTool({
    name: "read",
    description: "Reads it.",
    input: z.object({ n: z.int() }),
    output: z.object({ text: z.string() }),
    execute: ({ n }) => {
      reads += 1;
      return { text: n % 2 === 0 ? long(n) : "short" };
    },
  });
  const send = defineTool({
    name: "send",
    description: "Sends it.",
    input: z.object({ text: z.string() }),
    output: z.object({ length: z.int() }),
    confirm: true,
    execute: ({ text }) => ({ length: text.length }),
  });
  const f = flow(
    "reading",
    z.object({ texts: z.array(z.string()).default([]), sent: z.int().default(0) }),
  )
    .node("collect", async (_, ctx) => {
      const texts: string[] = [];
      for (let n = 0; n < 6; n++) texts.push((await ctx.call(read, { n })).text);
      const { length } = await ctx.call(send, { text: texts.join("") });
      return { texts, sent: length };
    })
    .build();
  return { f, reads: () => reads };
}

async function standing() {
  const { runner } = world();
  const { f, reads } = reading();
  const first = paused(await runner().run(f, {}, { runId: "r" }));
  const text = runner().dumpCheckpoint(first.checkpoint);
  const { body, header } = verify(text, { keyring, purpose: "checkpoint" });
  /** The same checkpoint with another body, under a seal of the same key. */
  const resealed = (other: string): string =>
    sign(other, { keyring, purpose: "checkpoint", header }).text;
  return { f, runner, reads, text, body, resealed };
}

describe("the body of a checkpoint", () => {
  it("FLOW-27 FLOW-31 FLOW-71 has long results on lines behind the state, escaped nowhere, and replays each as it was", async () => {
    const { f, runner, reads, text, body } = await standing();
    const [form, ...lines] = body.split("\n");
    const results = [0, 2, 4].map((n) => JSON.stringify({ text: long(n) }));
    expect(lines.slice(0, 3)).toEqual(results);
    expect(lines).toHaveLength(4); // and what the question shows
    expect(form).not.toContain("quoted");
    expect(form).toContain("short");
    const end = stateOf(await runner().resume(f, runner().loadCheckpoint(f, text), yes()));
    expect(end.texts).toEqual([0, 1, 2, 3, 4, 5].map((n) => (n % 2 === 0 ? long(n) : "short")));
    expect(end.sent).toBe(end.texts.join("").length);
    expect(reads()).toBe(6);
  });

  it("FLOW-50 FLOW-61 is refused where its lines are not those that its form names, under whatever seal", async () => {
    const { f, runner, body, resealed } = await standing();
    const [form = "", ...lines] = body.split("\n");
    const [first = "", second = "", ...rest] = lines;
    const swapped = form.replace('"text":0}', '"text":9}').replace('"text":1}', '"text":0}');
    const others = [
      [form],
      [form, ...lines, first],
      [form, first, second],
      [swapped.replace('"text":9}', '"text":1}'), first, second, ...rest],
      [form.replace('"text":1}', '"text":0}'), first, second, ...rest],
    ];
    for (const parts of others)
      expect(() => runner().loadCheckpoint(f, resealed(parts.join("\n")))).toThrow(
        expect.objectContaining({ code: "checkpoint-tampered" }),
      );
    expect(() => runner().loadCheckpoint(f, resealed(body))).not.toThrow();
  });

  it("FLOW-29 FLOW-50 says nothing twice, and is read whole: a question's facts where they differ from what is around it", async () => {
    const { f, text, body } = await standing();
    const parts = { ...resolveOptions({ keyring }).parts };
    const graph = graphOf(f);
    const { state } = openCheckpoint(graph, parts, text, { scope: "default" });
    expect(encodeState(state, graph, parts)).toBe(body);
    expect(body.split("\n")[0]!.match(/"default"/g)).toHaveLength(1);
    const [visit] = state.visits;
    const { execution, path } = visit as Extract<typeof visit, { execution: unknown }>;
    const [wait] = execution.waits;
    expect(execution).toMatchObject({ started: [], replaced: {}, nested: [], retries: 0 });
    expect(state).toMatchObject({ held: [], endReached: false, path: "" });
    const { facts, callId } = wait as Extract<typeof wait, { kind: "approval" }>;
    expect(facts).toMatchObject({ scope: "default", runId: "r", node: path, callId, rule: {} });
    const other = { scope: "s", runId: "q", node: "n#1", callId: "c", argumentKey: "k" };
    const rule = { quorum: 2 };
    const told = { ...wait!, facts: { ...facts, ...other, rule } };
    const differing = {
      ...state,
      visits: [{ ...visit!, execution: { ...execution, waits: [told] } }],
    };
    const again = encodeState(differing as never, graph, parts);
    for (const [name, value] of Object.entries({ ...other, rule }))
      expect(again).toContain(`"${name}":${JSON.stringify(value)}`);
  });

  it("FLOW-26 FLOW-27 that passes what a seal takes is refused at the pause, and asks nobody", async () => {
    const { runner } = world();
    const { f } = reading();
    const first = paused(await runner().run(f, {}, { runId: "r" }));
    const parts = resolveOptions({
      keyring: createKeyring({ current: { id: "k", key: new Uint8Array(32) } }),
    }).parts;
    const graph = graphOf(f);
    const text = runner().dumpCheckpoint(first.checkpoint);
    const { state } = openCheckpoint(graph, { ...parts, keyring }, text, { scope: "default" });
    const [visit] = state.visits;
    const { execution } = visit as Extract<typeof visit, { execution: unknown }>;
    const kept = { form: "text", text: JSON.stringify("é".repeat(3_000_000)) } as const;
    const results = execution.journal.map((entry) => ({
      ...entry,
      outcome: { ok: true, result: kept },
    }));
    const sized = (journal: readonly unknown[]): string =>
      encodeState(
        { ...state, visits: [{ ...visit!, execution: { ...execution, journal } }] } as never,
        graph,
        parts,
      );
    expect(sized(results.slice(0, 2)).length).toBeGreaterThan(6_000_000);
    expect(() => sized(results.slice(0, 3))).toThrow(
      expect.objectContaining({ code: "state-not-sealable" }),
    );
  });

  it("FLOW-50 FLOW-70 FLOW-71 is verified again where its bytes were touched, and by a runner that did not verify it", async () => {
    const { f, runner, text } = await standing();
    const own = runner();
    const foreign = runner({
      keyring: createKeyring({ current: { id: "k", key: new Uint8Array(32).fill(9) } }),
    });
    const touched = own.loadCheckpoint(f, text);
    touched.sealed[text.indexOf("quoted")]! ^= 1;
    expect(touched.sealed).toBe(touched.sealed);
    const loaded = own.loadCheckpoint(f, text);
    expect(own.dumpCheckpoint(loaded)).toBe(text);
    const tampered = expect.objectContaining({ code: "checkpoint-tampered" });
    for (const [by, checkpoint] of [
      [own, touched],
      [foreign, loaded],
    ] as const) {
      expect(() => by.dumpCheckpoint(checkpoint)).toThrow(tampered);
      expect(await rejection(by.resume(f, checkpoint, yes()))).toMatchObject({
        code: "checkpoint-tampered",
      });
    }
    expect(stateOf(await own.resume(f, structuredClone(loaded), yes())).texts).toHaveLength(6);
  });
});
