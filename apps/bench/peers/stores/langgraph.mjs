// LangGraph.js on its own savers, each checkpoint written before the next step (`durability: "sync"`). Its SQLite saver stands on a driver
// that has to be compiled; here it gets Node's own, with `synchronous=FULL`.
import { Command, entrypoint, interrupt, task } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { approvalGraph, linearGraph } from "../langgraph.mjs";

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
  const app = linearGraph(nodes).compile({ checkpointer });
  return async () => (await app.invoke({ n: 0 }, config())).n;
}

function approval(work, checkpointer, config) {
  const app = approvalGraph(work).compile({ checkpointer });
  return async () => {
    const how = config();
    await app.invoke(work.state, how);
    work.decided();
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
