/**
 * A run of another flow within an execution (FLOW-25, FLOW-34).
 *
 * N1 It is a frame of the same run: its events go into the same log under longer paths, and a pause within it pauses all.
 * N2 What the code gets is one outcome, recorded like a call's: the state that it ended in, or how it failed. Then its frame
 *    is dropped, so that what is kept stays linear.
 * N3 It runs by what its node declared: what is not part of the graph never runs.
 * N4 One at a time performs it: an execution that is tried again goes on with it when what was cut off has come to rest. A
 *    settle that was under way may still be taken in by then, and must not be made a second time beside it.
 */
import { errorInfo, type ErrorInfo, type InputSnapshot } from "@holdpoint/tools";

import { FlowError, isFlowError } from "../errors.ts";
import type { Graph } from "../graph/flow.ts";
import type { State } from "../graph/node.ts";
import { nestedDepthMax } from "../limits.ts";
import { copyOf } from "./copy.ts";
import type { Driven } from "./drive.ts";
import type { Made } from "./identity.ts";
import { begunOf, type Settled } from "./journal.ts";
import { openAt } from "./path.ts";
import { openWaits } from "./pending.ts";
import type { Place } from "./place.ts";
import { withdrawAll } from "./spend.ts";

/** The execution that begins it. */
export interface NestedSite {
  readonly place: Place;
  /** The node whose code runs. */
  readonly node: string;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly within: Place["within"];
}

/** Puts a nested run on record; or says why it can't be begun. @throws FlowError `depth-budget` */
export function beginNested(
  site: NestedSite,
  graph: Graph,
  input: InputSnapshot,
  made: Made,
): { readonly path: string } | Extract<Settled, { ok: false }> {
  const { place, path: visit, node } = site;
  const { live, depth } = place;
  if (depth >= nestedDepthMax) throw tooDeep(site, graph);
  let state: State;
  try {
    if (place.graph.nestedIn(node).get(graph.name) !== graph) throw undeclared(site, graph); // N3
    state = graph.state.start(input.value);
  } catch (error) {
    return { ok: false, error: errorInfo(error) };
  }
  // Numbered as begun, which is on record: so no two ever share a path, whatever the code does when it runs again. By its
  // flow's name, so that runs of other flows beside it, which may come first or last, have no part in it (FLOW-62).
  const { execution } = openAt(live.state, visit);
  const path = `${visit}/${graph.name}.${begunOf(execution, graph.name)}`;
  const { order } = made;
  const { start, nodeVisits } = graph;
  live.emit({ type: "nested-started", visit, call: made, order, path, start, nodeVisits, state });
  return { path };
}

const ignore = (): void => {};

/** Performs a nested run until it waits (`undefined`) or ends. Throws only what ends the run itself. */
export async function performNested(
  site: NestedSite,
  graph: Graph,
  path: string,
): Promise<Settled | undefined> {
  const { nestedUnderWay } = site.place.live;
  const cutOff = nestedUnderWay.get(path);
  if (cutOff !== undefined) await cutOff; // N4
  const outcome = drivenNested(site, graph, path);
  const rest = outcome.then(ignore, ignore);
  nestedUnderWay.set(path, rest);
  try {
    return await outcome;
  } finally {
    if (nestedUnderWay.get(path) === rest) nestedUnderWay.delete(path);
  }
}

async function drivenNested(
  site: NestedSite,
  graph: Graph,
  path: string,
): Promise<Settled | undefined> {
  const { live } = site.place;
  const place = placeOf(site, graph, path);
  const driven = await place.drive(place);
  switch (driven.status) {
    case "paused":
      return undefined;
    case "completed":
      // A copy, as a recorded one would be: nothing that the code does to it reaches the journal (FLOW-47).
      return { ok: true, result: { form: "value", value: copyOf(place.frame.state) } };
    case "failing": {
      const open = openWaits(live.state, place.frame).map(({ wait }) => wait);
      if (open.length > 0) await withdrawAll(live, open, "cancelled");
      return { ok: false, error: failureInfo(driven) };
    }
  }
}

function placeOf({ place, signal, within }: NestedSite, graph: Graph, path: string): Place {
  const { live, depth, drive } = place;
  const frame = live.state.frames.get(path);
  if (frame === undefined) throw new Error(`no nested run ${path} is under way`);
  const { nodeVisits } = frame;
  return { live, graph, frame, nodeVisits, signal, within, depth: depth + 1, drive };
}

/** How it failed, for the code that began it; worth another try where the first failure within is. */
function failureInfo({ error }: Extract<Driven, { status: "failing" }>): ErrorInfo {
  const info = errorInfo(error);
  if (!isFlowError(error)) return info;
  const [first] = (error.data["errors"] ?? []) as readonly { readonly error: ErrorInfo }[];
  return first?.error.retryable === true ? { ...info, retryable: true } : info;
}

function undeclared({ place, path, node }: NestedSite, { name }: Graph): FlowError {
  const { flow, runId } = place.live.state.seed;
  return new FlowError(
    "undeclared-flow",
    `'${node}' runs the flow '${name}' and does not declare it: give the node \`runs: [${name}]\`, so that it is a part of the graph`,
    { flow, runId, node: path, declare: name },
  );
}

function tooDeep({ place, path }: NestedSite, { name }: Graph): FlowError {
  const { flow, runId } = place.live.state.seed;
  return new FlowError(
    "depth-budget",
    `run ${runId} is ${nestedDepthMax} runs deep, and would run '${name}' within`,
    { flow, runId, node: path },
  );
}
