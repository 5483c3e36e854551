import { toolFacts } from "@holdpoint/tools";

import { graphOf, type Flow, type GraphNode } from "../graph/flow.ts";
import { nestedIn } from "../graph/nested.ts";
import { END, type NodeSpec } from "../graph/node.ts";

/** A flow's graph as plain data, for drawing, listing and comparing (FLOW-09). */
export interface FlowDescription {
  readonly name: string;
  readonly version?: string;
  readonly digest: string;
  readonly start: string;
  /** In declaration order. */
  readonly nodes: readonly NodeDescription[];
  /** In declaration order of where they come from. A node with nothing after it has one to `$end`. */
  readonly links: readonly LinkDescription[];
}

export interface NodeDescription {
  readonly name: string;
  readonly kind: NodeSpec["kind"];
  readonly title?: string;
  readonly description?: string;
  readonly version?: string;
  /** Waits for every branch that can still reach it. */
  readonly join: boolean;
  /** The tool that it calls. */
  readonly tool?: string;
  /** Names of the flows that it runs, or may run. */
  readonly flows?: readonly string[];
}

export interface LinkDescription {
  readonly from: string;
  /** A node, or `$end`. */
  readonly to: string;
  /** `finished`: always taken; `route`: one of those that a function chooses among; `denied`, `failed`: instead of these. */
  readonly when: "finished" | "route" | "denied" | "failed";
}

/** Describes a flow. Titles and descriptions are texts as the flow's author wrote them: escape them where they are shown. */
export function describe(flow: Flow): FlowDescription {
  const graph = graphOf(flow);
  const nodes = [...graph.nodes.values()];
  return {
    name: graph.name,
    ...(flow.version !== undefined && { version: flow.version }),
    digest: graph.digest,
    start: graph.start,
    nodes: nodes.map(({ spec }) => nodeDescription(spec)),
    links: nodes.flatMap(linksOf),
  };
}

function nodeDescription(spec: NodeSpec): NodeDescription {
  const { title, description, version, join = false } = spec.options;
  const flows = nestedIn(spec).map((nested) => (typeof nested === "function" ? nested() : nested));
  return {
    name: spec.name,
    kind: spec.kind,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(version !== undefined && { version }),
    join,
    ...(flows.length > 0 && { flows: flows.map((flow) => flow.name) }),
    ...((spec.kind === "call" || spec.kind === "map-call") && { tool: toolFacts(spec.tool).name }),
  };
}

function linksOf({ spec, edges, routes, denied, failed }: GraphNode): LinkDescription[] {
  const from = spec.name;
  const chosen = new Set(routes.flatMap((route) => route.targets));
  const onward = edges.length + chosen.size === 0 ? [END] : edges;
  return [
    ...onward.map((to) => ({ from, to, when: "finished" as const })),
    ...[...chosen].map((to) => ({ from, to, when: "route" as const })),
    ...(denied === undefined ? [] : [{ from, to: denied, when: "denied" as const }]),
    ...(failed === undefined ? [] : [{ from, to: failed, when: "failed" as const }]),
  ];
}
