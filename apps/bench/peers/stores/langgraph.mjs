// LangGraph.js on its own savers, each checkpoint written before the next step (`durability: "sync"`). Its SQLite saver stands on a driver
// that has to be compiled; here it gets Node's own, with `synchronous=FULL`.
import { Annotation, Command, entrypoint, interrupt, StateGraph, task } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export const name = "LangGraph.js";

export async function on({ sqlite, postgres }) {
  const checkpointer = sqlite ? new SqliteSaver(ownDriver(sqlite)) : await onServer(postgres);
  let runs = 0;
  const config = () => ({
    configurable: { thread_id: `t${runs++}` },
    durability: "sync",
    recursionLimit: 50,
  });
  return {
    linear: (nodes) => linear(nodes, checkpointer, config),
    approval: (work) => approval(work, checkpointer, config),
    results: (work) => results(work, checkpointer, config),
  };
}

async function onServer(url) {
  const saver = PostgresSaver.fromConnString(url);
  await saver.setup();
  return saver;
}

/** What its saver asks of a driver. */
function ownDriver(folder) {
  const file = new DatabaseSync(join(folder, "langgraph.db"));
  file.exec("PRAGMA synchronous = FULL");
  return {
    exec: (sql) => file.exec(sql),
    pragma: (text) => file.exec(`PRAGMA ${text}`),
    prepare: (sql) => file.prepare(sql),
    transaction:
      (work) =>
      (...args) => {
        file.exec("BEGIN IMMEDIATE");
        const made = work(...args);
        file.exec("COMMIT");
        return made;
      },
  };
}

function linear(nodes, checkpointer, config) {
  let graph = new StateGraph(Annotation.Root({ n: Annotation() }));
  for (let index = 0; index < nodes; index++)
    graph = graph.addNode(`n${index}`, async (state) => ({ n: state.n + 1 }));
  graph = graph.addEdge("__start__", "n0");
  for (let index = 1; index < nodes; index++) graph = graph.addEdge(`n${index - 1}`, `n${index}`);
  const app = graph.addEdge(`n${nodes - 1}`, "__end__").compile({ checkpointer });
  return async () => (await app.invoke({ n: 0 }, config())).n;
}

function approval({ state, execute, decided }, checkpointer, config) {
  const State = Annotation.Root({
    id: Annotation(),
    amount: Annotation(),
    items: Annotation(),
    ok: Annotation(),
  });
  const app = new StateGraph(State)
    .addNode("prepare", async (s) => ({ amount: s.amount + 1 }))
    .addNode("act", async (s) => {
      const decision = interrupt({ tool: "act", arguments: { id: s.id, amount: s.amount } });
      if (decision !== "approve") throw new Error("denied");
      return await execute({ id: s.id, amount: s.amount });
    })
    .addEdge("__start__", "prepare")
    .addEdge("prepare", "act")
    .addEdge("act", "__end__")
    .compile({ checkpointer });
  return async () => {
    const how = config();
    await app.invoke(state, how);
    decided();
    return (await app.invoke(new Command({ resume: "approve" }), how)).ok;
  };
}

/** Results are kept one by one where each is a task. */
function results({ results: count, fetch }, checkpointer, config) {
  const one = task("fetch", fetch);
  const collect = entrypoint({ name: "collect", checkpointer }, async () => {
    const all = [];
    for (let n = 0; n < count; n++) all.push(await one(n));
    if (interrupt({ tool: "finish", arguments: { n: all.length } }) !== "approve")
      throw new Error("denied");
    return all.length;
  });
  return async () => {
    const how = config();
    await collect.invoke({}, how);
    const done = await collect.invoke(new Command({ resume: "approve" }), how);
    if (done !== count) throw new Error(`${done} of ${count} results`);
    return done;
  };
}
