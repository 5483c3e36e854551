// Mastra on its own stores, which keep a snapshot after each step: LibSQL, which leaves SQLite's `synchronous` at NORMAL, and Postgres.
import { Mastra } from "@mastra/core";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { LibSQLStore } from "@mastra/libsql";
import { PostgresStore } from "@mastra/pg";
import { join } from "node:path";
import { z } from "zod";

export const name = "Mastra";

export async function on({ sqlite, postgres }) {
  const storage = sqlite
    ? new LibSQLStore({ id: "bench", url: `file:${join(sqlite, "mastra.db")}` })
    : new PostgresStore({ id: "bench", connectionString: postgres, schemaName: "mastra" });
  await storage.init();
  const registered = (workflow) =>
    new Mastra({ workflows: { it: workflow }, storage, logger: false }).getWorkflow("it");
  return {
    linear: (nodes) => linear(nodes, registered),
    approval: (work) => approval(work, registered),
    results: (work) => results(work, registered),
  };
}

const N = z.object({ n: z.number() });
const approved = z.object({ approved: z.boolean() });

function linear(nodes, registered) {
  let built = createWorkflow({ id: "linear", inputSchema: N, outputSchema: N });
  for (let index = 0; index < nodes; index++) {
    built = built.then(
      createStep({
        id: `n${index}`,
        inputSchema: N,
        outputSchema: N,
        execute: async ({ inputData }) => ({ n: inputData.n + 1 }),
      }),
    );
  }
  const workflow = registered(built.commit());
  return async () => {
    const run = await workflow.createRun();
    const result = await run.start({ inputData: { n: 0 } });
    if (result.status !== "success") throw new Error(result.status);
    return result.result.n;
  };
}

/** Runs to the question, and goes on by the run's id. */
function answered(workflow, step, inputData, decided = () => undefined) {
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

function approval({ state, execute, decided }, registered) {
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
    resumeSchema: approved,
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
  return answered(registered(built), "act", state, decided);
}

/** Results are kept one by one where each is a step's. */
function results({ results: count, fetch }, registered) {
  const Fetched = z.object({ rows: z.array(z.object({ id: z.number(), text: z.string() })) });
  let built = createWorkflow({ id: "results", inputSchema: N, outputSchema: N });
  for (let n = 0; n < count; n++) {
    built = built.then(
      createStep({
        id: `fetch${n}`,
        inputSchema: n === 0 ? N : Fetched,
        outputSchema: Fetched,
        execute: () => fetch(n),
      }),
    );
  }
  const finish = createStep({
    id: "finish",
    inputSchema: Fetched,
    outputSchema: N,
    resumeSchema: approved,
    suspendSchema: N,
    execute: async ({ resumeData, suspend }) =>
      resumeData === undefined ? await suspend({ n: count }) : { n: count },
  });
  return answered(registered(built.then(finish).commit()), "finish", { n: 0 });
}
