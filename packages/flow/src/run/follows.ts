/**
 * Which graph a nested run follows: that of the flow which the node around it declares. Read from the visits around it, not
 * from names in its path: a visit that was carried over to another graph keeps its path, and its node may be another's name.
 */
import type { Graph } from "../graph/flow.ts";
import type { NodeSpec } from "../graph/node.ts";
import type { LiveRun } from "./live.ts";
import { frameAt, visitAt } from "./path.ts";
import type { Stand } from "./state.ts";

/** The graph that the frame of this path follows; `undefined` where no such flow is declared. */
export function graphAt(root: Graph, run: Stand, framePath: string): Graph | undefined {
  if (framePath === "") return root;
  const end = framePath.lastIndexOf("/");
  const around = framePath.slice(0, end);
  const graph = graphAt(root, run, frameAt(run, around).path);
  const flow = framePath.slice(end + 1, framePath.lastIndexOf("."));
  return graph?.nestedIn(visitAt(run, around).node).get(flow);
}

/** The graph that the visit of this path is in. */
export function graphAround({ graph, state }: LiveRun, path: string): Graph {
  return graphAt(graph, state, frameAt(state, path).path)!;
}

/** The node that asked for something, by the graph of its frame. */
export function specAt(live: LiveRun, path: string): NodeSpec {
  return graphAround(live, path).nodes.get(visitAt(live.state, path).node)!.spec;
}
