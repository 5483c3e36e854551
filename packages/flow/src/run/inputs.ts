import { FlowError } from "../errors.ts";
import type { GraphNode } from "../graph/flow.ts";
import type { MapCallSpec, MapSpec, State } from "../graph/node.ts";
import { mapItemsMax } from "../limits.ts";
import type { VisitInputs } from "./event.ts";

/** The items of a map, or the arguments made of them. @throws FlowError `items-invalid` */
function itemsOf(spec: MapSpec | MapCallSpec, state: State): unknown[] {
  const list = spec.over(state);
  if (!Array.isArray(list))
    throw new FlowError("items-invalid", `'${spec.name}' is over something that is no array`, {
      node: spec.name,
    });
  if (list.length > mapItemsMax)
    throw new FlowError(
      "items-invalid",
      `'${spec.name}' is over ${list.length} items, and ${mapItemsMax} are the most`,
      { node: spec.name },
    );
  const items: readonly unknown[] = list;
  return spec.kind === "map" ? [...items] : items.map((item, i) => spec.args(item, i, state));
}

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
    case "subflow":
      return { kind: "subflow", input: { form: "value", value: spec.input(state) } };
    case "map":
    case "map-call": {
      const items = itemsOf(spec, state);
      return { kind: "map", items: { form: "value", value: items }, count: items.length };
    }
    case "call": {
      const args: unknown = typeof spec.args === "function" ? spec.args(state) : spec.args;
      return { kind: "call", args: { form: "value", value: args } };
    }
  }
}
