/**
 * Opening a checkpoint or a log for going on: the one place that holds the order of the checks (FLOW-61). Nothing here runs
 * a node, asks a port or moves a record.
 *
 * O1 size and shape → O2 seal → O3 purpose, version, flow, run → O4 graph, or a way to it → O5 status → O6 decode by schema,
 * carried over, state and names → O7 the waiting visits' inputs, evaluated again and compared. Answers, earlier answers and the spending commit
 * follow in `run/resume.ts`.
 */
import { isSealError, verify, type Verified } from "@holdpoint/seal";

import {
  FlowError,
  GraphMismatchError,
  GraphRunMismatchError,
  GraphVersionMismatchError,
  ResumeTerminalError,
} from "../errors.ts";
import { differences } from "../graph/digest.ts";
import type { Graph, GraphNode } from "../graph/flow.ts";
import { checkpointCharsMax } from "../limits.ts";
import { wayBetween, type Migration } from "../graph/migration.ts";
import type { EventOf, VisitInputs } from "../run/event.ts";
import { graphAt } from "../run/follows.ts";
import { inputsOf } from "../run/inputs.ts";
import { migrationOf } from "../run/migrate.ts";
import type { Parts } from "../run/parts.ts";
import { waitsOf, waitsWithin } from "../run/pending.ts";
import { keptAsText } from "../run/reveal.ts";
import type { Frame, OpenVisit, Phase, RunState, VisitState } from "../run/state.ts";
import { framesOf, nestedIn, ownExecutions } from "../run/tree.ts";
import { askedBy, isOpen } from "../run/wait.ts";
import { linesIn, stateOf } from "./body.ts";
import type { StateForm } from "./form.ts";
import { manifestIn } from "./graph-header.ts";
import { checkpointVersion } from "./seal.ts";

/** What a seal says about itself, before anything of its body is looked at. */
type SealHeader = Verified["header"];

/** A checkpoint that was opened; `mac` names this very text. Whoever goes on from `state` owns it. */
export interface Opened {
  readonly text: string;
  /** As it was sealed. */
  readonly state: RunState;
  /** Carries it over to the graph as it is now, where it is of an earlier one. */
  readonly migrated: EventOf<"migrated"> | undefined;
  readonly mac: string;
}

/** Whose checkpoint is expected. */
export interface Expected {
  readonly scope: string;
  /** The run it has to be of, where the caller says so. */
  readonly runId?: string | undefined;
}

/** O1–O6 for a checkpoint's text. `known`: what came of it before, on this graph and in this scope; the same text is believed. */
export function openCheckpoint(
  graph: Graph,
  parts: Parts,
  text: string,
  expected: Expected,
  known?: Opened,
): Opened {
  if (known?.text === text) {
    if (expected.runId !== undefined) checkRun(expected.runId, known.state.seed.runId);
    return known;
  }
  if (text.length > checkpointCharsMax)
    throw tampered(undefined, "it is longer than any checkpoint"); // O1
  const { header, body, mac } = verified(text, parts); // O2
  if (header["format"] !== checkpointVersion) {
    throw tampered(
      undefined,
      `its format is ${String(header["format"])}, and this version reads ${checkpointVersion}`,
    );
  }
  const run = String(header["run"]);
  checkFlow(graph, header); // O3
  if (header["scope"] !== expected.scope) throw tampered(undefined, "it is of another scope");
  if (expected.runId !== undefined) checkRun(expected.runId, run);
  const way = wayFrom(graph, header, parts); // O4
  if (header["phase"] !== "paused") throw terminal(run, String(header["phase"])); // O5
  const state = decodedState(graph, parts, run, body); // O6
  const manifest = way.length === 0 ? graph.manifest : (manifestIn(header) ?? {});
  const opened: RunState = { ...state, seed: { ...state.seed, manifest } };
  const { seed, revision, phase } = opened;
  const agrees =
    seed.runId === run &&
    seed.scope === header["scope"] &&
    revision === header["rev"] &&
    phase.is === header["phase"];
  if (!agrees) throw tampered(run, "its parts contradict each other");
  const migrated = carriedOver(graph, opened, way, parts);
  checkState(graph, { ...opened, ...migrated?.stand });
  return { text, state: opened, migrated, mac };
}

/** The event that carries a run over to the graph as it is now, where it is of an earlier one (FLOW-53). */
export function carriedOver(
  graph: Graph,
  run: RunState,
  way: readonly Migration[],
  { clock }: Parts,
): EventOf<"migrated"> | undefined {
  return way.length === 0 ? undefined : migrationOf(graph, run, way, clock.now());
}

/** What the seal covered, built by what the graph reaches. */
export function decodedState(graph: Graph, parts: Parts, runId: string, body: string): RunState {
  const { form, lines } = linesIn(body);
  const state = stateOf(decodedForm(graph, parts, runId, form), lines);
  if (state === undefined) throw tampered(runId, "its lines are not those that its form names");
  return state;
}

function decodedForm(graph: Graph, parts: Parts, runId: string, form: string): StateForm {
  try {
    return parts.sealer.decode(form, { schema: readableBy(graph, parts) }) as StateForm;
  } catch (error) {
    if (!isSealError(error)) throw error;
    throw new FlowError(
      "state-invalid",
      `the state of run ${runId} can't be built by this runner: ${error.message}`,
      { runId, flow: graph.name, ...(error.path !== undefined && { path: error.path }) },
      error,
    );
  }
}

/** What texts of this flow's runs are decoded by: its schemas, and those of earlier graphs that migrations name. */
export function readableBy(graph: Graph, { migrations }: Parts): unknown {
  const earlier = migrations.flatMap(({ flow, reads }) => (flow === graph.name ? [reads] : []));
  return earlier.length === 0 ? graph.reachable : [...graph.reachable, ...earlier];
}

function checkFlow(graph: Graph, header: SealHeader): void {
  const runId = String(header["run"]);
  if (header["flow"] !== graph.name) {
    throw new GraphMismatchError(
      "graph-mismatch",
      `run ${runId} belongs to the flow '${String(header["flow"])}', not to '${graph.name}'`,
      {
        runId,
        flow: graph.name,
      },
    );
  }
}

/**
 * O3, O4: how a run comes to this graph; no way at all for one that is of it. Also for the entries of a log that say so.
 * @throws FlowError `graph-mismatch`, `graph-version-mismatch`
 */
export function wayFrom(
  graph: Graph,
  header: SealHeader,
  { migrations }: Parts,
): readonly Migration[] {
  checkFlow(graph, header);
  const way = wayBetween(migrations, graph.name, String(header["graph"]), graph.digest);
  if (way !== undefined) return way;
  const runId = String(header["run"]);
  const was = manifestIn(header);
  const differs = was === undefined ? [] : differences(was, graph.manifest);
  const named = was === undefined ? "it has too many parts to name them" : differs.join(", ");
  throw new GraphVersionMismatchError(
    "graph-version-mismatch",
    `the graph of '${graph.name}' changed since run ${runId} paused: ${named}`,
    { runId, flow: graph.name, differs },
  );
}

/** Refuses a run id other than the one asked for. */
function checkRun(asked: string, runId: string): void {
  if (asked === runId) return;
  throw new GraphRunMismatchError(
    "graph-run-mismatch",
    `this is run ${runId}, and run ${asked} was asked for`,
    { runId, asked },
  );
}

/** O6: what was decoded fits the graph; loading checks, it never replaces a value (FLOW-03). */
export function checkState(graph: Graph, run: RunState): void {
  const frames = framesOf(run);
  const nested = frames.flatMap(({ visits }) => visits.flatMap(nestedIn));
  const whole = nested.every(({ path }) => run.frames.has(path));
  if (!whole || nested.length !== run.frames.size)
    throw tampered(run.seed.runId, "its nested runs are not those that its visits began");
  for (const frame of frames) {
    const follows = graphAt(graph, run, frame.path);
    if (follows === undefined)
      throw tampered(run.seed.runId, `it names a nested run '${frame.path}' that the graph lacks`);
    checkFrame(follows, frame, run.seed.runId);
  }
  for (const { wait } of waitsOf(run)) {
    // FLOW-58: nothing can be answered that names no tool.
    if (askedBy(wait) === "") throw tampered(run.seed.runId, "something waits that names no tool");
  }
  if (!phaseHolds(run))
    throw tampered(run.seed.runId, `its phase '${run.phase.is}' does not go with its visits`);
}

function checkFrame(graph: Graph, frame: Frame, runId: string): void {
  graph.state.opened(frame.state);
  for (const { node } of frame.visits) {
    if (!graph.nodes.has(node))
      throw tampered(runId, `it names a node '${node}' that the graph lacks`);
  }
  for (const node of frame.held) {
    if (!graph.joins.has(node))
      throw tampered(runId, `it holds a join '${node}' that the graph lacks`);
  }
}

/** Which visits a phase goes with (FLOW-60): whether some of a status must, may or must not be there. */
const phases: Readonly<Record<Phase["is"], Readonly<Record<VisitState["status"], Presence>>>> = {
  routed: { ready: "may", waiting: "never", finished: "never" },
  running: { ready: "may", waiting: "may", finished: "may" },
  paused: { ready: "never", waiting: "must", finished: "may" },
  ended: { ready: "may", waiting: "may", finished: "may" }, // a failed round stays to be looked at
};

type Presence = "must" | "may" | "never";

/** Whether phase, visits and what they wait for go together. */
export function phaseHolds(run: RunState): boolean {
  const { phase, frames } = run;
  if (phase.is === "routed" && frames.size > 0) return false; // nothing of the round has begun
  return framesOf(run).every(({ visits }) => {
    for (const status of ["ready", "waiting", "finished"] as const) {
      const some = visits.some((visit) => visit.status === status);
      if (phases[phase.is][status] === (some ? "never" : "must")) return false;
    }
    return visits.every((visit) => visit.status !== "waiting" || canBeAnswered(run, visit));
  });
}

/** A visit waits if and only if somebody can still answer it: of a map, each of the items that wait. */
function canBeAnswered(run: RunState, visit: OpenVisit): boolean {
  const waiting = ownExecutions(visit);
  const open = waiting.every((execution) =>
    waitsWithin(run, execution).some(({ wait }) => isOpen(wait)),
  );
  return open && waiting.length > 0;
}

/** A visit that would show something else now than what it showed. */
export interface DifferingInputs {
  readonly graph: Graph;
  readonly visit: OpenVisit;
  readonly field: string;
  readonly cause?: unknown;
}

/** O7: what the waiting visits showed is what they would show now (FLOW-63). @throws FlowError `graph-version-mismatch` */
export function checkInputs(graph: Graph, run: RunState, parts: Parts): void {
  const differs = differingInputs(graph, run, parts);
  if (differs === undefined) return;
  const { graph: follows, visit, field, cause } = differs;
  throw new GraphVersionMismatchError(
    "graph-version-mismatch",
    `'${visit.node}' would show something else now than what was shown: its ${field} differs`,
    { runId: run.seed.runId, flow: follows.name, node: visit.path, field },
    cause,
  );
}

/** The first visit whose inputs would be others now. What `known` holds is left out, and what was compared goes in. */
export function differingInputs(
  graph: Graph,
  run: RunState,
  parts: Parts,
  known?: WeakSet<object>,
): DifferingInputs | undefined {
  for (const frame of framesOf(run)) {
    const follows = graphAt(graph, run, frame.path)!;
    for (const visit of frame.visits) {
      if (visit.status === "finished" || visit.inputs === undefined) continue;
      const { inputs } = visit;
      if (known?.has(inputs) === true) continue;
      const differs = difference(inputs, follows.nodes.get(visit.node)!, frame.state, parts);
      if (differs !== undefined) return { graph: follows, visit, ...differs };
      known?.add(inputs);
    }
  }
  return undefined;
}

/** In which part a visit's inputs would be others now. The user's functions and values may fail: that differs too. */
function difference(
  was: VisitInputs,
  node: GraphNode,
  state: RunState["state"],
  parts: Parts,
): { readonly field: string; readonly cause?: unknown } | undefined {
  const { sealer } = parts;
  const field = fieldOf(was, node);
  try {
    const is = inputsOf(node, state);
    if (is?.kind === "gate" && was.kind === "gate") {
      if (was.asks !== is.asks) return { field: "when" };
      return keptAsText(was.payload, sealer) === keptAsText(is.payload, sealer)
        ? undefined
        : { field };
    }
    if (is?.kind === "call" && was.kind === "call")
      return keptAsText(was.args, sealer) === keptAsText(is.args, sealer) ? undefined : { field };
    if (is?.kind === "map" && was.kind === "map")
      return keptAsText(was.items, sealer) === keptAsText(is.items, sealer) ? undefined : { field };
    if (is?.kind === "subflow" && was.kind === "subflow")
      return keptAsText(was.input, sealer) === keptAsText(is.input, sealer) ? undefined : { field };
    return { field: "kind" };
  } catch (cause) {
    return { field, cause };
  }
}

/** What of a node made its inputs. */
function fieldOf(was: VisitInputs, { spec }: GraphNode): string {
  if (was.kind === "gate") return "payload";
  if (was.kind === "subflow") return "input";
  return was.kind === "map" && spec.kind === "map" ? "items" : "args";
}

/** O1, O2 alone: whether a text would be believed at all. @throws FlowError `checkpoint-tampered` */
export function checkSeal(text: string, parts: Parts): void {
  verified(text, parts);
}

function verified(sealed: string, parts: Parts): Verified {
  try {
    return verify(sealed, { keyring: parts.keyring, purpose: "checkpoint" });
  } catch (error) {
    if (!isSealError(error)) throw error;
    throw tampered(undefined, error.message, error);
  }
}

/** One code for all of it, so that nobody learns from a refusal how far a forgery came (SEAL-28). */
export function tampered(runId: string | undefined, why: string, cause?: unknown): FlowError {
  return new FlowError(
    "checkpoint-tampered",
    `the checkpoint was changed, is foreign, or was sealed under another key: ${why}`,
    runId === undefined ? {} : { runId },
    cause,
  );
}

export function terminal(runId: string, how: string): ResumeTerminalError {
  return new ResumeTerminalError("resume-terminal", `run ${runId} has ended: it is ${how}`, {
    runId,
    status: how,
  });
}

/** Whether a phase lets a run be resumed. @throws ResumeTerminalError */
export function checkPhase(runId: string, phase: Phase): void {
  if (phase.is === "ended") throw terminal(runId, phase.how);
}
