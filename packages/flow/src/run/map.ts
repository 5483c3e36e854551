/**
 * A map: one execution an item, each with a journal of its own.
 *
 * M1 Items are independent: one that waits or fails keeps no other from running, within the bound (FLOW-24).
 * M2 All items settle before the map ends, and it ends by their indices: its result never depends on timing (FLOW-33).
 * M3 An item that ended is kept by its value or failure, and never runs again.
 */
import type { ErrorInfo } from "@holdpoint/tools";

import type { GraphNode } from "../graph/flow.ts";
import type { ItemResult, MapResults } from "../graph/map.ts";
import type { MapCallSpec, MapSpec } from "../graph/node.ts";
import { attempt, type Attempt, type Attempted } from "./attempt.ts";
import { ItemVisitContext, VisitContext } from "./context.ts";
import { copyOf } from "./copy.ts";
import type { VisitEnd } from "./event.ts";
import type { Execution, Executing } from "./execution.ts";
import { keptCopy } from "./journaled.ts";
import { freshExecution, isFresh, type Kept } from "./journal.ts";
import { abortedRun } from "./live.ts";
import { itemPath } from "./path.ts";
import { waitsWithin } from "./pending.ts";
import type { Place } from "./place.ts";
import { revealed } from "./reveal.ts";
import { withdrawAll } from "./spend.ts";
import type { OpenVisit } from "./state.ts";
import { runTogether } from "./together.ts";
import { checkedUpdate, failed, failedWith } from "./update.ts";
import { isOpen } from "./wait.ts";

type AnyMap = MapSpec | MapCallSpec;

/** Runs what can run of a map's items. `undefined`: some of them wait. */
export async function visitMap(
  place: Place,
  visit: OpenVisit,
  node: GraphNode,
  spec: AnyMap,
): Promise<VisitEnd | undefined> {
  const { live, signal } = place;
  const items = visit.items ?? [];
  const list = listOf(place, visit);
  const due = (status: "ready" | "queued"): number[] =>
    items.flatMap((item, index) => (item.status === status ? [index] : []));
  const bound = spec.concurrency ?? live.state.seed.settings.concurrency;
  let waiting = items.some((item) => item.status === "waiting");
  const run = (index: number): Promise<void> | undefined => {
    if (waiting && spec.stopOnPause && items[index]!.status === "queued") return undefined;
    const at = new Item(visit, index);
    return runItem(place, at, spec, list[index], (end) => {
      if (end.how !== "waiting") {
        const taking = takeBack(place, at);
        if (taking === undefined) return tellEnd(place, at, spec, end);
        return taking.then(() => tellEnd(place, at, spec, end));
      }
      waiting = true;
      return live.emit({ type: "visit-waiting", visit: at.path });
    });
  };
  await runTogether(place, bound, [...due("ready"), ...due("queued")], run);
  if (signal.aborted) throw abortedRun(live);
  if (waiting) return undefined;
  return mapEnd(place, visit, node, spec); // M2
}

/** The list as it was sealed at the visit's start. Each execution gets an item of its own of it. */
function listOf({ live }: Place, visit: OpenVisit): readonly unknown[] {
  if (visit.inputs?.kind !== "map") return [];
  const { items } = visit.inputs;
  if (items.form === "value") return items.value as readonly unknown[];
  return reveal(live, visit.path, items, live.graph.reachable) as readonly unknown[];
}

function reveal(live: Place["live"], path: string, kept: Kept, schema: unknown): unknown {
  return revealed(kept, live.parts.sealer, schema, { runId: live.state.seed.runId, node: path });
}

/** One item's execution, which the fold replaces as it goes. */
class Item implements Executing {
  readonly path: string;
  readonly node: string;
  readonly index: number;
  readonly #visit: OpenVisit;

  constructor(visit: OpenVisit, index: number) {
    this.path = itemPath(visit.path, index);
    this.node = visit.node;
    this.index = index;
    this.#visit = visit;
  }

  get execution(): Executing["execution"] {
    const item = this.#visit.items?.[this.index];
    return item !== undefined && "execution" in item ? item.execution : freshExecution;
  }
}

function runItem(
  place: Place,
  at: Item,
  spec: AnyMap,
  item: unknown,
  ended: Attempt<unknown, void>["ended"],
): Promise<void> {
  const body = (execution: Execution): unknown => {
    const { scope } = execution;
    if (spec.kind === "map-call") return new VisitContext(execution, scope).call(spec.tool, item);
    const ctx = new ItemVisitContext(execution, scope, at.index);
    return spec.each(copyOf(item), ctx, place.frame.state);
  };
  return attempt(place, at, { options: spec.options, body, read: asItIs, ended });
}

const asItIs = (value: unknown): unknown => value;

/** What an item that was cut off had asked for, within nested runs too: nobody can answer it any more. */
function takeBack({ live }: Place, item: Item): Promise<void> | undefined {
  if (isFresh(item.execution)) return undefined;
  const open = waitsWithin(live.state, item).flatMap(({ wait }) => (isOpen(wait) ? [wait] : []));
  return open.length > 0 ? withdrawAll(live, open, "cancelled") : undefined;
}

function tellEnd(
  { live }: Place,
  item: Item,
  spec: AnyMap,
  end: Exclude<Attempted<unknown>, { how: "waiting" }>,
): void {
  const { path } = item;
  if (end.how === "finished") {
    // A call's result is in the journal, as a copy of its own.
    const called = spec.kind === "map-call" ? item.execution.journal.at(-1)?.outcome : undefined;
    const value = called?.ok === true ? called.result : keptCopy(end.value, undefined, live.parts);
    return live.emit({ type: "item-finished", visit: path, end: { ok: true, value } });
  }
  const { error } = end;
  if (spec.onError === "skip")
    return live.emit({ type: "item-skipped", visit: path, reason: reasonOf(error), error });
  live.emit({ type: "item-finished", visit: path, end: { ok: false, error } });
}

/** FLOW-36 */
function reasonOf(error: ErrorInfo): "denied" | "failed" {
  return error.code === "approval-denied" ? "denied" : "failed";
}

function mapEnd(place: Place, visit: OpenVisit, node: GraphNode, spec: AnyMap): VisitEnd {
  const results = resultsOf(place, visit);
  const wrong = results.items.find((item) => !item.ok);
  if (wrong !== undefined && !wrong.ok && spec.onError === "fail")
    return failedWith(node, wrong.error);
  try {
    const update = spec.into(results, place.frame.state);
    return { ok: true, update: checkedUpdate(place, visit.path, update) };
  } catch (error) {
    return failed(node, error);
  }
}

function resultsOf({ live }: Place, visit: OpenVisit): MapResults<unknown> {
  const items = (visit.items ?? []).map((item, index): ItemResult<unknown> => {
    if (item.status === "failed") {
      const { reason, error } = item;
      return { ok: false, reason, error };
    }
    const path = itemPath(visit.path, index);
    const kept: Kept =
      item.status === "finished" ? item.value : { form: "lost", why: "it has not ended" };
    return { ok: true, value: reveal(live, path, kept, live.graph.reachable) };
  });
  return { items, values: items.flatMap((item) => (item.ok ? [item.value] : [])) };
}
