/**
 * One visit of one node: its inputs, its code, its end.
 *
 * V1 Inputs are evaluated once, at the visit's start; a re-run gets the recorded ones (FLOW-63).
 */
import { isFlowError } from "../errors.ts";
import type { GraphNode } from "../graph/flow.ts";
import type {
  CallSpec,
  FunctionSpec,
  MaybePromise,
  NodeOptions,
  State,
  SubflowSpec,
} from "../graph/node.ts";
import { attempt, type Attempt, type Attempted } from "./attempt.ts";
import { runGraph, VisitContext } from "./context.ts";
import type { VisitEnd } from "./event.ts";
import type { Execution } from "./execution.ts";
import { visitGate } from "./gate.ts";
import { inputsOf } from "./inputs.ts";
import { isFresh } from "./journal.ts";
import type { LiveRun } from "./live.ts";
import { visitMap } from "./map.ts";
import { waitsIn } from "./pending.ts";
import type { Place } from "./place.ts";
import { withdrawAll } from "./spend.ts";
import type { OpenVisit } from "./state.ts";
import { checkedUpdate, failed, failedWith } from "./update.ts";
import { isOpen } from "./wait.ts";

type CodeSpec = FunctionSpec | CallSpec | SubflowSpec;

/** Runs a visit until it finished, failed or waits. Throws only what ends the run itself. */
export function runVisit(place: Place, visit: OpenVisit): Promise<void> {
  const node = place.graph.nodes.get(visit.node)!;
  if (visit.inputs === undefined && isFresh(visit.execution) && !startVisit(place, visit, node))
    return over;
  const { spec } = node;
  switch (spec.kind) {
    case "gate":
      return visitGate(place, visit, node, spec);
    case "map":
    case "map-call":
      return visitMap(place, visit, node, spec).then((end) => finish(place.live, visit, end));
    default:
      return attempt(place, visit, new VisitCode(place, visit, node, spec));
  }
}

const over = Promise.resolve();

/** A visit's code. An object of closures, made anew for each visit, takes twice the memory. */
class VisitCode implements Attempt<State, void> {
  readonly options: NodeOptions;
  readonly #place: Place;
  readonly #visit: OpenVisit;
  readonly #node: GraphNode;
  readonly #spec: CodeSpec;

  constructor(place: Place, visit: OpenVisit, node: GraphNode, spec: CodeSpec) {
    this.options = spec.options;
    this.#place = place;
    this.#visit = visit;
    this.#node = node;
    this.#spec = spec;
  }

  body(execution: Execution): MaybePromise<unknown> {
    return bodyOf(this.#place, this.#visit, this.#spec, execution);
  }

  read(value: unknown): State {
    return checkedUpdate(this.#place, this.#visit.path, value);
  }

  ended(outcome: Attempted<State>): MaybePromise<void> {
    return finish(this.#place.live, this.#visit, endOf(this.#node, outcome));
  }
}

/** `undefined` as an end: it waits. */
function finish(live: LiveRun, visit: OpenVisit, end: VisitEnd | undefined): MaybePromise<void> {
  if (end === undefined) {
    live.emit({ type: "visit-waiting", visit: visit.path });
    return undefined;
  }
  const finished = (): void => live.emit({ type: "visit-finished", visit: visit.path, end });
  const taking =
    visit.items === undefined && isFresh(visit.execution) ? undefined : takeBack(live, visit);
  if (taking !== undefined) return taking.then(finished);
  finished();
  return undefined;
}

/** What an execution that was cut off had asked for is taken back: its visit is over, and nobody can answer any more. */
function takeBack(live: LiveRun, visit: OpenVisit): Promise<void> | undefined {
  const open = waitsIn(live.state, visit).flatMap(({ wait }) => (isOpen(wait) ? [wait] : []));
  return open.length > 0 ? withdrawAll(live, open, "cancelled") : undefined;
}

/** V1. Whether the visit began; if its inputs could not be made, it has failed. */
function startVisit({ live, frame }: Place, visit: OpenVisit, node: GraphNode): boolean {
  try {
    live.emit({
      type: "visit-started",
      visit: visit.path,
      inputs: inputsOf(node, frame.state),
    });
    return true;
  } catch (error) {
    if (isFlowError(error, "state-not-sealable")) throw error;
    live.emit({ type: "visit-finished", visit: visit.path, end: failed(node, error) });
    return false;
  }
}

/** `undefined`: it waits. */
function endOf(node: GraphNode, outcome: Attempted<State>): VisitEnd | undefined {
  switch (outcome.how) {
    case "finished":
      return { ok: true, update: outcome.value };
    case "failed":
      return failedWith(node, outcome.error);
    case "waiting":
      return undefined;
  }
}

/** Call nodes and nested flows are functions that ask for one thing. */
function bodyOf(
  { frame, graph }: Place,
  { inputs, node }: OpenVisit,
  spec: CodeSpec,
  execution: Execution,
): MaybePromise<unknown> {
  const ctx = new VisitContext(execution, execution.scope);
  switch (spec.kind) {
    case "function":
      return spec.run(frame.state, ctx);
    case "subflow": {
      const [within] = graph.nestedIn(node).values();
      const input = inputs?.kind === "subflow" ? execution.open(inputs.input) : undefined;
      return runGraph(execution, execution.scope, within!, input).then((end) =>
        spec.into(end, frame.state),
      );
    }
    case "call": {
      const args =
        inputs?.kind === "call" ? execution.openArguments(inputs.args, spec.tool) : undefined;
      return ctx.call(spec.tool, args).then((result: unknown) => {
        if (typeof spec.into === "function") return spec.into(result, frame.state);
        return spec.into === undefined ? undefined : { [spec.into]: result };
      });
    }
  }
}
