// Mastra on its own stores, which keep a snapshot after each step: LibSQL, whose `synchronous` it sets to NORMAL, and Postgres.
import { Mastra } from "@mastra/core";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { LibSQLStore } from "@mastra/libsql";
import { PostgresStore } from "@mastra/pg";
import { join } from "node:path";
import { z } from "zod";

import { answered, approvalWorkflow, linearWorkflow, straight } from "../mastra.mjs";

export const name = "Mastra";

export async function on({ sqlite, postgres }) {
  const storage = sqlite
    ? new LibSQLStore({ id: "bench", url: `file:${join(sqlite, "mastra.db")}` })
    : new PostgresStore({ id: "bench", connectionString: postgres, schemaName: "mastra" });
  await storage.init();
  const registered = (workflow) =>
    new Mastra({ workflows: { it: workflow }, storage, logger: false }).getWorkflow("it");
  return {
    linear: (nodes) => straight(registered(linearWorkflow(nodes))),
    approval: (work) =>
      answered(registered(approvalWorkflow(work)), "act", work.state, work.decided),
    results: (work) => results(work, registered),
  };
}

const N = z.object({ n: z.number() });
const approved = z.object({ approved: z.boolean() });

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
