import type { Flow, Graph } from "./flow.ts";
import type { NodeOptions, NodeSpec } from "./node.ts";

/** A flow that a node runs within itself; as a function where it is not built yet, as in a flow that contains itself. */
export type NestedFlow<F extends Flow = Flow> = F | (() => F);

/** What a node with code of its own may be given. */
export interface CodeOptions extends NodeOptions {
  /** The flows that its code may run with `ctx.run`. They are a part of the graph, as the node is. */
  readonly runs?: readonly NestedFlow[];
}

/** The flows that a node declares. */
export function nestedIn(spec: NodeSpec): readonly NestedFlow[] {
  switch (spec.kind) {
    case "subflow":
      return [spec.flow];
    case "function":
    case "map":
      return spec.runs;
    default:
      return [];
  }
}

/** The graph that the frame of this path follows; `undefined` where no such flow is declared. */
export function graphAt(root: Graph, framePath: string): Graph | undefined {
  let graph: Graph | undefined = root;
  const parts = framePath === "" ? [] : framePath.split("/");
  for (let index = 0; graph !== undefined && index < parts.length; index += 2) {
    const [execution = "", run = ""] = parts.slice(index, index + 2);
    const node = execution.slice(0, execution.indexOf("#"));
    graph = graph.nestedIn(node).get(run.slice(0, run.lastIndexOf(".")));
  }
  return graph;
}
