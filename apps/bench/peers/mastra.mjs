// B1 and B2 on Mastra: a workflow of steps; for the approval, its in-memory storage keeps the suspended snapshot.
import { Mastra } from "@mastra/core";
import { InMemoryStore } from "@mastra/core/storage";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { z } from "zod";

export const name = "Mastra";

const N = z.object({ n: z.number() });

export function linear(nodes) {
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
  const built = workflow.commit();
  return async () => {
    const run = await built.createRun();
    const result = await run.start({ inputData: { n: 0 } });
    if (result.status !== "success") throw new Error(result.status);
    return result.result.n;
  };
}

export function approval({ state, execute }) {
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
  const built = createWorkflow({ id: "approval", inputSchema: State, outputSchema: Done })
    .then(prepare)
    .then(act)
    .commit();
  const mastra = new Mastra({
    workflows: { approval: built },
    storage: new InMemoryStore({ id: "memory" }),
    logger: false,
  });
  const workflow = mastra.getWorkflow("approval");
  return async () => {
    const run = await workflow.createRun();
    const first = await run.start({ inputData: state });
    if (first.status !== "suspended") throw new Error(first.status);
    const again = await workflow.createRun({ runId: run.runId });
    const result = await again.resume({ step: "act", resumeData: { approved: true } });
    if (result.status !== "success") throw new Error(result.status);
    return result.result.ok;
  };
}
