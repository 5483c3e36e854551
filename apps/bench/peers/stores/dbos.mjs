// DBOS on Postgres: a workflow of steps, each result on record before the next; the decision is a message that the workflow waits for.
import { DBOS } from "@dbos-inc/dbos-sdk";

export const name = "DBOS";

export async function on({ postgres, work }) {
  const { nodes, approval, results } = work;
  /** Somebody decides once the workflow has got there. */
  const asking = new Map();
  const decision = () => {
    asking.get(DBOS.workflowID)?.();
    return DBOS.recv("decision", 60);
  };
  const runStep = (name, step) => DBOS.runStep(step, { name });
  const linear = DBOS.registerWorkflow(
    async () => {
      let state = { n: 0 };
      for (let index = 0; index < nodes; index++)
        state = await runStep(`n${index}`, async () => ({ n: state.n + 1 }));
      return state.n;
    },
    { name: "linear" },
  );
  const approving = DBOS.registerWorkflow(
    async (state) => {
      const { amount } = await runStep("prepare", async () => ({ amount: state.amount + 1 }));
      if ((await decision()) !== "approve") throw new Error("denied");
      return (await runStep("act", async () => approval.execute({ id: state.id, amount }))).ok;
    },
    { name: "approval" },
  );
  const collecting = DBOS.registerWorkflow(
    async () => {
      let count = 0;
      for (let n = 0; n < results.results; n++) {
        await runStep("fetch", () => results.fetch(n));
        count += 1;
      }
      if ((await decision()) !== "approve") throw new Error("denied");
      return count;
    },
    { name: "results" },
  );
  DBOS.setConfig({ name: "bench", systemDatabaseUrl: postgres, logLevel: "error" });
  await DBOS.launch();
  let runs = 0;
  const answered = async (workflow, ...args) => {
    const workflowID = `run-${process.pid}-${runs++}`;
    const asked = new Promise((resolve) => asking.set(workflowID, resolve));
    const handle = await DBOS.startWorkflow(workflow, { workflowID })(...args);
    await asked;
    asking.delete(workflowID);
    approval.decided();
    await DBOS.send(workflowID, "approve", "decision");
    return handle.getResult();
  };
  return {
    linear: () => async () => (await DBOS.startWorkflow(linear)()).getResult(),
    approval: () => () => answered(approving, approval.state),
    results: () => () => answered(collecting),
  };
}
