import type { Flow } from "./flow.ts";
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
