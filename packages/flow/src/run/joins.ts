/**
 * Which nodes of those that are due make up the next round (FLOW-10); pure.
 *
 * J1 A join runs once nothing that is due can still reach it, along whatever is drawn: edges, route targets, denied and
 *    failed edges. What only it itself would lead to does not hold it back.
 * J2 What is no join never waits. A join that is named again while it waits is due once.
 * J3 Something always runs: where all that is due are joins that wait for each other, around a loop, the first declared of
 *    those that wait for no others goes first.
 */
import type { Graph } from "../graph/flow.ts";

/** What is due: the nodes of the next round, and the joins that wait, both in declaration order. */
export interface Due {
  readonly next: readonly string[];
  readonly held: readonly string[];
}

/** Says who of `named` and of the joins held so far runs now. */
export function dueOf(graph: Graph, named: readonly string[], held: readonly string[]): Due {
  if (named.length <= 1 && held.length === 0) return { next: named, held }; // most rounds
  const due = inOrder(graph, new Set([...held, ...named])); // J2
  if (graph.joins.size === 0) return { next: due, held };
  // A node that can reach the join, and is not it, holds it back (J1).
  const blockers = (join: string): string[] =>
    due.filter((name) => name !== join && graph.joins.get(join)!.has(name));
  const waits = (name: string): boolean => graph.joins.has(name) && blockers(name).length > 0;
  const next = due.filter((name) => !waits(name));
  if (next.length > 0) return { next, held: due.filter(waits) };
  // J3: reaching is transitive, so in such a loop each is held back by those alone that it holds back.
  const first = due.find((join) => blockers(join).every((other) => blockers(other).includes(join)));
  return { next: due.filter((name) => name === first), held: due.filter((name) => name !== first) };
}

/** Declaration order, whichever visit named a node first (FLOW-04). */
function inOrder(graph: Graph, names: ReadonlySet<string>): string[] {
  const list = [...names];
  if (list.length > 1) list.sort((a, b) => graph.nodes.get(a)!.index - graph.nodes.get(b)!.index);
  return list;
}
