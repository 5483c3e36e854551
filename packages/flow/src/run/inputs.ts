import type { GraphNode } from "../graph/flow.ts";
import type { State } from "../graph/node.ts";
import type { VisitInputs } from "./event.ts";

/** What a node's visit is made of, evaluated on a state. */
export function inputsOf(node: GraphNode, state: State): VisitInputs | undefined {
  const { spec } = node;
  switch (spec.kind) {
    case "function":
      return undefined;
    case "gate": {
      const asks = spec.when === undefined || spec.when(state);
      return {
        kind: "gate",
        asks,
        payload: { form: "value", value: asks ? spec.payload(state) : undefined },
      };
    }
    case "call": {
      const args: unknown = typeof spec.args === "function" ? spec.args(state) : spec.args;
      return { kind: "call", args: { form: "value", value: args } };
    }
  }
}
