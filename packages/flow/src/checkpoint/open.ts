/**
 * Opening a checkpoint or a log for going on: the one place that holds the order of the checks (FLOW-61). Nothing here runs
 * a node, asks a port or moves a record.
 *
 * O1 size and shape → O2 seal → O3 purpose, version, flow, run → O4 graph → O5 status → O6 decode by schema, state and
 * names → O7 the waiting visits' inputs, evaluated again and compared. Answers, earlier answers and the spending commit
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
import type { VisitInputs } from "../run/event.ts";
import { inputsOf } from "../run/inputs.ts";
import type { Kept } from "../run/journal.ts";
import type { Parts } from "../run/parts.ts";
import { waitsOf } from "../run/pending.ts";
import type { Phase, RunState, VisitState } from "../run/state.ts";
import { checkpointVersion, manifestFrom } from "./seal.ts";

/** What a seal says about itself, before anything of its body is looked at. */
type SealHeader = Verified["header"];

/** A checkpoint that was opened; `mac` names this very text. Whoever goes on from `state` owns it. */
export interface Opened {
  readonly text: string;
  readonly state: RunState;
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
  checkDigest(graph, header); // O4
  if (header["phase"] !== "paused") throw terminal(run, String(header["phase"])); // O5
  const state = decodedState(graph, parts, run, body); // O6
  const opened: RunState = { ...state, seed: { ...state.seed, manifest: graph.manifest } };
  const { seed, revision, phase } = opened;
  const agrees =
    seed.runId === run &&
    seed.scope === header["scope"] &&
    revision === header["rev"] &&
    phase.is === header["phase"];
  if (!agrees) throw tampered(run, "its parts contradict each other");
  checkState(graph, opened);
  return { text, state: opened, mac };
}

/** What the seal covered, built by what the graph reaches. */
export function decodedState(graph: Graph, parts: Parts, runId: string, body: string): RunState {
  try {
    return parts.sealer.decode(body, { schema: graph.reachable }) as RunState;
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

/** O3, O4: whose it is. Also for the first entry of a log. */
export function checkGraph(graph: Graph, header: SealHeader): void {
  checkFlow(graph, header);
  checkDigest(graph, header);
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

function checkDigest(graph: Graph, header: SealHeader): void {
  if (header["graph"] === graph.digest) return;
  const runId = String(header["run"]);
  const differs = differences(manifestFrom(String(header["parts"])), graph.manifest);
  throw new GraphVersionMismatchError(
    "graph-version-mismatch",
    `the graph of '${graph.name}' changed since run ${runId} paused: ${differs.join(", ")}`,
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
  graph.state.opened(run.state);
  for (const visit of run.visits) {
    if (!graph.nodes.has(visit.node))
      throw tampered(run.seed.runId, `it names a node '${visit.node}' that the graph lacks`);
  }
  for (const { wait } of waitsOf(run)) {
    // FLOW-58: nothing can be answered that names no tool.
    if (wait.facts.tool === "")
      throw tampered(run.seed.runId, "something waits that names no tool");
  }
  if (!phaseHolds(run))
    throw tampered(run.seed.runId, `its phase '${run.phase.is}' does not go with its visits`);
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
export function phaseHolds({ phase, visits }: RunState): boolean {
  for (const status of ["ready", "waiting", "finished"] as const) {
    const some = visits.some((visit) => visit.status === status);
    if (phases[phase.is][status] === (some ? "never" : "must")) return false;
  }
  // A visit waits if and only if somebody can still answer it.
  return visits.every(
    (visit) =>
      visit.status !== "waiting" || visit.execution.waits.some((wait) => wait.answer === undefined),
  );
}

/** O7: what the waiting visits showed is what they would show now (FLOW-63). */
export function checkInputs(graph: Graph, run: RunState, parts: Parts): void {
  for (const visit of run.visits) {
    if (visit.status === "finished" || visit.inputs === undefined) continue;
    const was = visit.inputs;
    const differs = difference(was, graph.nodes.get(visit.node)!, run.state, parts);
    if (differs === undefined) continue;
    const { field, cause } = differs;
    throw new GraphVersionMismatchError(
      "graph-version-mismatch",
      `'${visit.node}' would show something else now than what was shown: its ${field} differs`,
      { runId: run.seed.runId, flow: graph.name, node: visit.path, field },
      cause,
    );
  }
}

/** In which part a visit's inputs would be others now. The user's functions and values may fail: that differs too. */
function difference(
  was: VisitInputs,
  node: GraphNode,
  state: RunState["state"],
  parts: Parts,
): { readonly field: string; readonly cause?: unknown } | undefined {
  const field = was.kind === "gate" ? "payload" : "args";
  try {
    const is = inputsOf(node, state);
    if (is?.kind === "gate" && was.kind === "gate") {
      if (was.asks !== is.asks) return { field: "when" };
      return text(was.payload, parts) === text(is.payload, parts) ? undefined : { field };
    }
    if (is?.kind === "call" && was.kind === "call")
      return text(was.args, parts) === text(is.args, parts) ? undefined : { field };
    return { field: "kind" };
  } catch (cause) {
    return { field, cause };
  }
}

function text(kept: Kept, parts: Parts): string {
  if (kept.form === "text") return kept.text;
  return parts.sealer.encode(kept.form === "value" ? kept.value : undefined);
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
