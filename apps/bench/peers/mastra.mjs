// B1, B2, B5 and B6 on Mastra: a workflow of steps; for what pauses, its in-memory storage keeps the suspended snapshot.
import { Mastra } from "@mastra/core";
import { InMemoryStore } from "@mastra/core/storage";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { z } from "zod";

export const name = "Mastra";

const N = z.object({ n: z.number() });

export function linearWorkflow(nodes) {
  let workflow = createWorkflow({ id: "linear", inputSchema: N, outputSchema: N });
  for (let index = 0; index < nodes; index++) {
    workflow = workflow.then(
      createStep({
        id: `n${index}`,
        inputSchema: N,
        outputSchema: N,
        execute: async ({ inputData }) => ({ n: inputData.n + 1 }),
      }),
    );
  }
  return workflow.commit();
}

/** Runs of it, from its beginning to its end. */
export function straight(workflow) {
  return async () => {
    const run = await workflow.createRun();
    const result = await run.start({ inputData: { n: 0 } });
    if (result.status !== "success") throw new Error(result.status);
    return result.result.n;
  };
}

export function linear(nodes) {
  return straight(linearWorkflow(nodes));
}

export function approvalWorkflow({ execute }) {
  const Item = z.object({ sku: z.string(), n: z.number() });
  const State = z.object({ id: z.string(), amount: z.number(), items: z.array(Item) });
  const Done = z.object({ ok: z.boolean() });
  const prepare = createStep({
    id: "prepare",
    inputSchema: State,
    outputSchema: State,
    execute: async ({ inputData }) => ({ ...inputData, amount: inputData.amount + 1 }),
  });
  const act = createStep({
    id: "act",
    inputSchema: State,
    outputSchema: Done,
    resumeSchema: z.object({ approved: z.boolean() }),
    suspendSchema: z.object({ amount: z.number() }),
    execute: async ({ inputData, resumeData, suspend }) => {
      if (resumeData === undefined) return await suspend({ amount: inputData.amount });
      return await execute({ id: inputData.id, amount: inputData.amount });
    },
  });
  return createWorkflow({ id: "approval", inputSchema: State, outputSchema: Done })
    .then(prepare)
    .then(act)
    .commit();
}

/** Runs of it to the question of a step and, by the run's id, from what its storage keeps to the end. */
export function answered(workflow, step, inputData, decided = () => undefined) {
  return async () => {
    const run = await workflow.createRun();
    const first = await run.start({ inputData });
    if (first.status !== "suspended") throw new Error(first.status);
    decided();
    const again = await workflow.createRun({ runId: run.runId });
    const result = await again.resume({ step, resumeData: { approved: true } });
    if (result.status !== "success") throw new Error(result.status);
    return result.result;
  };
}

function inMemory(built) {
  const storage = new InMemoryStore({ id: "memory" });
  return new Mastra({ workflows: { built }, storage, logger: false }).getWorkflow("built");
}

export function approval(work) {
  return answered(inMemory(approvalWorkflow(work)), "act", work.state);
}

const Got = z.array(z.any());
const Done = z.object({ done: z.number() });

/** A step that asks; answers how many it was given. */
const asking = createStep({
  id: "ask",
  inputSchema: Got,
  outputSchema: Done,
  resumeSchema: z.object({ approved: z.boolean() }),
  suspendSchema: z.object({}),
  execute: async ({ inputData, resumeData, suspend }) =>
    resumeData === undefined ? await suspend({}) : { done: inputData.length },
});

export function results(work) {
  const collect = createStep({
    id: "collect",
    inputSchema: N,
    outputSchema: Got,
    execute: async () => {
      const got = [];
      for (let n = 0; n < work.results; n++) got.push(await work.fetch(n));
      return got;
    },
  });
  const workflow = createWorkflow({ id: "built", inputSchema: N, outputSchema: Done });
  return answered(inMemory(workflow.then(collect).then(asking).commit()), "ask", { n: 0 });
}

export function map(work) {
  const each = createStep({
    id: "each",
    inputSchema: z.number(),
    outputSchema: z.number(),
    execute: async ({ inputData }) => await work.act(inputData),
  });
  const workflow = createWorkflow({
    id: "built",
    inputSchema: z.array(z.number()),
    outputSchema: Done,
  });
  const { concurrency, items } = work;
  const built = workflow.foreach(each, { concurrency }).then(asking).commit();
  const input = Array.from({ length: items }, (_, n) => n);
  return answered(inMemory(built), "ask", input);
}
