// B1 and B2 on LangGraph.js: a state graph; for the approval, its in-memory saver, which serializes each checkpoint.
import { Annotation, Command, interrupt, MemorySaver, StateGraph } from "@langchain/langgraph";

export const name = "LangGraph.js";

export function linear(nodes) {
  let graph = new StateGraph(Annotation.Root({ n: Annotation() }));
  for (let index = 0; index < nodes; index++)
    graph = graph.addNode(`n${index}`, async (state) => ({ n: state.n + 1 }));
  graph = graph.addEdge("__start__", "n0");
  for (let index = 1; index < nodes; index++) graph = graph.addEdge(`n${index - 1}`, `n${index}`);
  const app = graph.addEdge(`n${nodes - 1}`, "__end__").compile();
  return async () => (await app.invoke({ n: 0 }, { recursionLimit: nodes + 5 })).n;
}

export function approval({ state, execute }) {
  const State = Annotation.Root({
    id: Annotation(),
    amount: Annotation(),
    items: Annotation(),
    ok: Annotation(),
  });
  let runs = 0;
  return async () => {
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
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: `t${runs++}` } };
    await app.invoke(state, config);
    return (await app.invoke(new Command({ resume: "approve" }), config)).ok;
  };
}
