import { approve, DeferredApproval, memoryApprovalStore, unverified } from "@holdpoint/approvals";
import { flow, FlowRunner, type Flow, type FlowBuilder, type FlowInput } from "@holdpoint/flow";
import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";
import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

import type { Adapter, workloads } from "./workloads.ts";

const keyring = createKeyring({
  current: { id: "bench", key: new Uint8Array(32).fill(7) },
  mac: nodeMac,
});
export const dana = unverified("dana");
const N = z.object({ n: z.int() });

export function linearFlow(nodes: number) {
  type Builder = FlowBuilder<{ n: number }, { n: number }, string>;
  let builder = flow("linear", N).node("n0", async (state) => ({ n: state.n + 1 })) as Builder;
  for (let index = 1; index < nodes; index++) {
    builder = builder
      .node(`n${index}` as never, async (state) => ({ n: state.n + 1 }))
      .edge(`n${index - 1}`, `n${index}`) as Builder;
  }
  return builder.build();
}

function linear(nodes: number): () => Promise<number> {
  const built = linearFlow(nodes);
  const runner = new FlowRunner({ keyring });
  return async () => {
    const result = await runner.run(built, { n: 0 });
    if (result.status !== "completed") throw new Error(result.status);
    return result.state.n;
  };
}

export function approvalFlow(work: (typeof workloads)["B2"]) {
  const act = defineTool({
    name: "act",
    description: "Does it.",
    input: z.object({ id: z.string(), amount: z.number() }),
    output: z.object({ ok: z.boolean() }),
    confirm: true,
    execute: (call) => work.execute(call),
  });
  const State = z.object({
    id: z.string(),
    amount: z.number(),
    items: z.array(z.object({ sku: z.string(), n: z.number() })),
    ok: z.boolean().optional(),
  });
  return flow("approval", State)
    .node("prepare", async (state) => ({ amount: state.amount + 1 }))
    .call("act", act, {
      args: (s) => ({ id: s.id, amount: s.amount }),
      into: (r) => ({ ok: r.ok }),
    })
    .path("prepare", "act")
    .build();
}

/** With records behind the port, an approval is once-only everywhere; without, in this process. */
function approval(work: (typeof workloads)["B2"], records: boolean): () => Promise<boolean> {
  const built = approvalFlow(work);
  const approvals = records
    ? new DeferredApproval(memoryApprovalStore(), { keyring })
    : { request: async () => ({ status: "pending" as const }) };
  const runner = new FlowRunner({ approvals, keyring });
  return async () => {
    const first = await runner.run(built, work.state);
    if (first.status !== "paused") throw new Error(first.status);
    const text = runner.dumpCheckpoint(first.checkpoint);
    const done = await runner.resume(
      built,
      runner.loadCheckpoint(built, text),
      approve({ by: dana }),
    );
    if (done.status !== "completed") throw new Error(done.status);
    return done.state.ok!;
  };
}

const finish = defineTool({
  name: "finish",
  description: "Ends it.",
  input: z.object({ n: z.int() }),
  output: z.object({ n: z.int() }),
  confirm: true,
  execute: ({ n }) => ({ n }),
});

/** Runs to the pause, through a text, and to the end; answers the text's length. */
function pausing<S extends object, In>(built: Flow<S, In>, input: In): () => Promise<number> {
  const approvals = { request: async () => ({ status: "pending" as const }) };
  const runner = new FlowRunner({ approvals, keyring });
  return async () => {
    const first = await runner.run(built, input as FlowInput<Flow<S, In>>);
    if (first.status !== "paused") throw new Error(first.status);
    const text = runner.dumpCheckpoint(first.checkpoint);
    const checkpoint = runner.loadCheckpoint(built, text);
    const done = await runner.resume(built, checkpoint, approve({ by: dana }));
    if (done.status !== "completed") throw new Error(done.status);
    return text.length;
  };
}

export function resultsFlow(work: (typeof workloads)["B5"]) {
  const fetch = defineTool({
    name: "fetch",
    description: "Gets it.",
    input: z.object({ n: z.int() }),
    output: z.object({ rows: z.array(z.object({ id: z.int(), text: z.string() })) }),
    idempotent: true,
    execute: async ({ n }) => {
      const { rows } = await work.fetch(n);
      return { rows: [...rows] };
    },
  });
  return flow("results", N)
    .node("collect", async (_, ctx) => {
      for (let n = 0; n < work.results; n++) await ctx.call(fetch, { n });
      return { n: (await ctx.call(finish, { n: work.results })).n };
    })
    .build();
}

function map(work: (typeof workloads)["B6"]): () => Promise<number> {
  const act = defineTool({
    name: "act",
    description: "Does it.",
    input: z.object({ n: z.int() }),
    output: z.object({ n: z.int() }),
    execute: async ({ n }) => ({ n: await work.act(n) }),
  });
  const List = z.object({ n: z.int(), values: z.array(z.int()).default([]) });
  const built = flow("map", List)
    .mapCall("each", act, {
      over: (s) => Array.from({ length: s.n }, (_, n) => n),
      args: (n) => ({ n }),
      into: (done) => ({ values: done.values.map(({ n }) => n) }),
      concurrency: work.concurrency,
    })
    .call("finish", finish, { args: (s) => ({ n: s.values.length }), into: ({ n }) => ({ n }) })
    .edge("each", "finish")
    .build();
  return pausing(built, { n: work.items });
}

export const holdpoint: Adapter = {
  name: "holdpoint",
  linear,
  approval: (work) => approval(work, false),
  results: (work) => pausing(resultsFlow(work), { n: 0 }),
  map,
};

export const holdpointWithRecords: Adapter = {
  name: "holdpoint, with records",
  linear,
  approval: (work) => approval(work, true),
};
