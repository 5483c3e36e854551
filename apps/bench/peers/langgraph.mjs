// B1, B2, B5 and B6 on LangGraph.js: a state graph; for what pauses, its in-memory saver, which serializes each checkpoint.
import {
  Annotation,
  Command,
  interrupt,
  MemorySaver,
  Send,
  StateGraph,
} from "@langchain/langgraph";

export const name = "LangGraph.js";

/** Not compiled yet: on stores it gets another saver. */
export function linearGraph(nodes) {
  let graph = new StateGraph(Annotation.Root({ n: Annotation() }));
  for (let index = 0; index < nodes; index++)
    graph = graph.addNode(`n${index}`, async (state) => ({ n: state.n + 1 }));
  graph = graph.addEdge("__start__", "n0");
  for (let index = 1; index < nodes; index++) graph = graph.addEdge(`n${index - 1}`, `n${index}`);
  return graph.addEdge(`n${nodes - 1}`, "__end__");
}

export function linear(nodes) {
  const app = linearGraph(nodes).compile();
  return async () => (await app.invoke({ n: 0 }, { recursionLimit: nodes + 5 })).n;
}

/** Not compiled yet either. */
export function approvalGraph({ execute }) {
  const State = Annotation.Root({
    id: Annotation(),
    amount: Annotation(),
    items: Annotation(),
    ok: Annotation(),
  });
  return new StateGraph(State)
    .addNode("prepare", async (s) => ({ amount: s.amount + 1 }))
    .addNode("act", async (s) => {
      const decision = interrupt({ tool: "act", arguments: { id: s.id, amount: s.amount } });
      if (decision !== "approve") throw new Error("denied");
      return await execute({ id: s.id, amount: s.amount });
    })
    .addEdge("__start__", "prepare")
    .addEdge("prepare", "act")
    .addEdge("act", "__end__");
}

export function approval(work) {
  let runs = 0;
  return async () => {
    const app = approvalGraph(work).compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: `t${runs++}` } };
    await app.invoke(work.state, config);
    return (await app.invoke(new Command({ resume: "approve" }), config)).ok;
  };
}

/** Runs to the question and, from what its saver keeps, to the end. */
async function asking(app, input, more = {}) {
  const config = { configurable: { thread_id: "t" }, ...more };
  await app.invoke(input, config);
  return (await app.invoke(new Command({ resume: "approve" }), config)).done;
}

const ask = (state) => {
  if (interrupt({ tool: "finish" }) !== "approve") throw new Error("denied");
  return { done: state.got.length };
};

export function results(work) {
  const State = Annotation.Root({ got: Annotation(), done: Annotation() });
  return async () => {
    const app = new StateGraph(State)
      .addNode("collect", async () => {
        const got = [];
        for (let n = 0; n < work.results; n++) got.push(await work.fetch(n));
        return { got };
      })
      .addNode("ask", ask)
      .addEdge("__start__", "collect")
      .addEdge("collect", "ask")
      .addEdge("ask", "__end__")
      .compile({ checkpointer: new MemorySaver() });
    return asking(app, {});
  };
}

export function map(work) {
  const State = Annotation.Root({
    got: Annotation({ reducer: (all, more) => all.concat(more), default: () => [] }),
    done: Annotation(),
  });
  const items = Array.from({ length: work.items }, (_, n) => n);
  return async () => {
    const app = new StateGraph(State)
      .addNode("each", async ({ n }) => ({ got: [await work.act(n)] }))
      .addNode("ask", ask)
      .addConditionalEdges("__start__", () => items.map((n) => new Send("each", { n })), ["each"])
      .addEdge("each", "ask")
      .addEdge("ask", "__end__")
      .compile({ checkpointer: new MemorySaver() });
    return asking(app, {}, { maxConcurrency: work.concurrency });
  };
}
