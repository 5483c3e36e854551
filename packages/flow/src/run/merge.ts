/**
 * What a settled round leads to: pure but for the user's reducers and routes, which run here once (FLOW-06, FLOW-13).
 */
import { FlowError } from "../errors.ts";
import type { Graph, GraphNode } from "../graph/flow.ts";
import { END, type State } from "../graph/node.ts";
import type { EventOf } from "./event.ts";
import { mergedState } from "./fold.ts";
import { dueOf } from "./joins.ts";
import type { Frame } from "./state.ts";

/** The event that a round ends with, but for its time, and the state that it leads to. */
export interface Round {
  readonly routed: Omit<EventOf<"routed">, "at">;
  readonly state: State;
}

/**
 * Merges the updates and follows edges and routes. `kept`: whether the event goes on record; what each visit chose is told
 * there alone. @throws FlowError `update-conflict`, `undeclared-route`, `state-invalid`
 */
export function routeRound(graph: Graph, frame: Frame, kept: boolean): Round {
  const reduced = reduce(graph, frame);
  const state = mergedState(frame, reduced);
  graph.state.whole(state);

  const taken: Record<string, readonly string[]> = kept ? {} : untold;
  const named: string[] = [];
  let ended = false;
  for (const visit of frame.visits) {
    const node = graph.nodes.get(visit.node)!;
    const via = visit.status === "finished" ? visit.end.via : undefined;
    const targets =
      via === undefined ? onward(node, state) : [via === "denied" ? node.denied! : node.failed!];
    if (kept) taken[visit.path] = targets;
    if (targets.length === 0) ended = true;
    for (const target of targets) {
      if (target === END) ended = true;
      else named.push(target);
    }
  }
  const { next, held } = dueOf(graph, named, frame.held);
  const { path } = frame;
  const routed =
    path === "" && held.length === 0
      ? ({ type: "routed", reduced, taken, next, ended } as const)
      : ({
          type: "routed",
          ...(path !== "" && { frame: path }),
          reduced,
          taken,
          next,
          ...(held.length > 0 && { held }),
          ended,
        } as const);
  return { routed, state };
}

const untold: Record<string, never> = Object.freeze({});
const nothing: State = Object.freeze({});

/** Fields with a reducer, merged in declaration order; others may be written once a round. */
function reduce(graph: Graph, frame: Frame): State {
  if (frame.visits.length === 1 && graph.reducers.size === 0) return nothing; // one writer of plain fields
  const reduced: State = {};
  const writers = new Map<string, string>();
  for (const visit of frame.visits) {
    if (visit.status !== "finished" || !visit.end.ok) continue;
    for (const [field, value] of Object.entries(visit.end.update)) {
      const merge = graph.reducers.get(field);
      if (merge !== undefined) {
        const current = Object.hasOwn(reduced, field) ? reduced[field] : frame.state[field];
        const merged = merge(current, value);
        reduced[field] = graph.state.field(field, merged, visit.path, frame.state[field]);
        continue;
      }
      const other = writers.get(field);
      if (other !== undefined) {
        throw new FlowError(
          "update-conflict",
          `'${field}' was written by ${other} and ${visit.path} in one round: give it a reducer, or write it in one place`,
          { field, nodes: [other, visit.path] },
        );
      }
      writers.set(field, visit.path);
    }
  }
  return reduced;
}

/** Where a node that finished goes on: its edges, then its routes. */
function onward(node: GraphNode, state: State): readonly string[] {
  if (node.routes.length === 0) return node.edges;
  const chosen = node.routes.flatMap((route) => {
    const choice = route.choose(state);
    const names = typeof choice === "string" ? [choice] : Array.isArray(choice) ? choice : [];
    for (const name of names.length === 0 ? [undefined] : names) {
      if (name !== undefined && route.targets.includes(name)) continue;
      throw new FlowError(
        "undeclared-route",
        `the route from '${node.spec.name}' chose a target that it does not declare (it declares ${route.targets.join(", ")})`,
        { node: node.spec.name },
      );
    }
    return names;
  });
  return [...node.edges, ...chosen];
}
