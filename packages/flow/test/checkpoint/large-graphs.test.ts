import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, type Flow } from "../../src/index.ts";
import { paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number() });
type State = z.output<typeof State>;

/** A gate, and so many nodes after it, each with a long name. */
function chain(nodes: number, changed?: number): Flow<State, State> {
  // oxlint-disable-next-line typescript/no-explicit-any
  let b: any = flow("f", State).gate("look", { payload: (s) => s.n });
  const names = Array.from({ length: nodes }, (_, index) => `a_node_with_a_name_${index}`);
  for (const [index, name] of names.entries())
    b = b.node(name, (s: State) => ({ n: s.n + 1 }), index === changed ? { version: "2" } : {});
  return b.path("look", ...names).build() as Flow<State, State>;
}

describe("a graph of many nodes", () => {
  for (const [nodes, named] of [
    [40, true],
    [400, true],
    [1_000, false],
  ] as const) {
    it(`FLOW-50 FLOW-51 pauses and goes on with ${nodes} nodes, and refuses a changed one${named ? " by name" : ""}`, async () => {
      const was = chain(nodes);
      const is = chain(nodes, nodes - 1);
      const differs = named ? [`node:a_node_with_a_name_${nodes - 1}`] : [];
      const data: unknown = expect.objectContaining({ differs });
      const refusal = { code: "graph-version-mismatch", data };
      for (const durable of [false, true]) {
        const { runner } = world(durable ? { log: memoryRunLog() } : {});
        const first = paused(await runner().run(was, { n: 0 }, { runId: "r" }));
        const text = runner().dumpCheckpoint(first.checkpoint);
        expect(() => runner().loadCheckpoint(is, text)).toThrow(expect.objectContaining(refusal));
        const error = await rejection(runner().resume(is, durable ? "r" : first.checkpoint));
        expect(error).toMatchObject(refusal);
        expect(error.message).toContain(named ? differs[0] : "too many parts");
        const end = await runner().resume(was, runner().loadCheckpoint(was, text), yes());
        expect(stateOf(end).n).toBe(nodes);
      }
    });
  }
});
