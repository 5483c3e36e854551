/**
 * A run's state, carried over to another graph (FLOW-53). Pure but for the transforms of the migrations themselves; nothing
 * is spent, sealed or logged here.
 *
 * M1 A visit keeps the path that it began under: ids of calls and keys of effects are made of it, so that what had begun is
 *    found again and no effect gets a second key. Only the node that goes on with it has another name.
 * M2 No later visit comes by a path that was used before: a name that a new node took over goes on counting.
 * M3 Whatever does not fit the new graph is refused, naming it; what waiting visits showed is compared as at any resume.
 */
import { errorInfo } from "@holdpoint/tools";

import { FlowError } from "../errors.ts";
import type { Graph } from "../graph/flow.ts";
import type { Migration } from "../graph/migration.ts";
import type { State } from "../graph/node.ts";
import type { EventOf } from "./event.ts";
import { graphAt } from "./follows.ts";
import type { RunState, Stand, VisitState } from "./state.ts";

/** The event that carries a run over; folded, the run is one of the new graph. @throws FlowError `migration-failed` */
export function migrationOf(
  graph: Graph,
  run: RunState,
  way: readonly Migration[],
  at: number,
): EventOf<"migrated"> {
  const { seed, endReached, path, frames } = run;
  const ended = run.phase.is === "ended"; // of what has ended only the state is looked at any more
  const named = (old: string): string => renamed(way, old);
  try {
    const nodeVisits = Object.entries(seed.settings.nodeVisits);
    return {
      type: "migrated",
      at,
      from: seed.digest,
      seed: {
        ...seed,
        digest: graph.digest,
        manifest: graph.manifest,
        settings: {
          ...seed.settings,
          nodeVisits: Object.fromEntries(nodeVisits.map(([node, max]) => [named(node), max])),
        },
      },
      stand: checkedNested(graph, {
        path,
        state: Object.freeze(transformed(way, "state", run.state)),
        visits: ended ? [] : carriedRound(graph, way, run.visits),
        held: ended ? [] : run.held.map((join) => heldJoin(graph, named(join))),
        endReached,
        visited: visitedBy(graph, run.visited, named),
        frames: ended ? new Map() : frames,
      }),
    };
  } catch (error) {
    const { flow, runId } = seed;
    const message = `run ${runId} can't be carried over to the graph of '${flow}' as it is now: ${errorInfo(error).message}`;
    throw new FlowError("migration-failed", message, { flow, runId }, error);
  }
}

function renamed(way: readonly Migration[], node: string): string {
  let name = node;
  for (const { nodes = {} } of way) if (Object.hasOwn(nodes, name)) name = nodes[name]!;
  return name;
}

function transformed(way: readonly Migration[], what: "state" | "update", was: State): State {
  let is = was;
  for (const step of way) {
    const made: unknown = step[what]?.(is) ?? is;
    if (typeof made !== "object" || made === null || Array.isArray(made))
      throw new TypeError(`the ${what} of the migration from ${step.from} is no object`);
    is = made as State;
  }
  return { ...is };
}

/** In declaration order of the new graph: that is the order in which they merge. */
function carriedRound(
  graph: Graph,
  way: readonly Migration[],
  visits: readonly VisitState[],
): VisitState[] {
  const round = visits.map((visit) => carried(graph, way, visit));
  const index = ({ node }: VisitState): number => graph.nodes.get(node)!.index;
  round.sort((a, b) => index(a) - index(b));
  const twice = round.find((visit, place) => round[place - 1]?.node === visit.node);
  if (twice !== undefined) throw new RangeError(`two visits of its round are of '${twice.node}'`);
  return round;
}

/** Nested runs go on as they are: by the flows that the nodes around them declare now (M3). */
function checkedNested(graph: Graph, stand: Stand): Stand {
  for (const [path, { visits }] of stand.frames) {
    const follows = graphAt(graph, stand, path);
    if (follows === undefined)
      throw new RangeError(`a run is under way at ${path}, and its node declares no such flow`);
    const lost = visits.find(({ node }) => !follows.nodes.has(node));
    if (lost !== undefined)
      throw new RangeError(
        `it is at '${lost.node}' (${lost.path}), and '${follows.name}' has no such node`,
      );
  }
  return stand;
}

function heldJoin(graph: Graph, join: string): string {
  if (graph.joins.has(join)) return join;
  throw new RangeError(`'${join}' is due when its branches have come in, and is no join`);
}

function carried(graph: Graph, way: readonly Migration[], visit: VisitState): VisitState {
  const node = renamed(way, visit.node);
  const known = graph.nodes.get(node);
  if (known === undefined)
    throw new RangeError(`it is at '${node}' (${visit.path}), and there is no such node`); // M3
  if (visit.status !== "finished") return { ...visit, node }; // M1
  const { end } = visit;
  if (end.via !== undefined && known[end.via] === undefined)
    throw new RangeError(`it goes on along the ${end.via} edge of '${node}', which is not drawn`);
  if (!end.ok) return { ...visit, node };
  const update = transformed(way, "update", end.update);
  for (const [field, value] of Object.entries(update))
    update[field] = graph.state.field(field, value, visit.path);
  return { ...visit, node, end: { ...end, update: Object.freeze(update) } };
}

/** M2 */
function visitedBy(
  graph: Graph,
  visited: Readonly<Record<string, number>>,
  named: (old: string) => string,
): Record<string, number> {
  const is: Record<string, number> = {};
  for (const [old, count] of Object.entries(visited)) {
    for (const name of new Set([named(old), ...(graph.nodes.has(old) ? [old] : [])]))
      is[name] = Math.max(count, Object.hasOwn(is, name) ? is[name]! : 0);
  }
  return is;
}
