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
import type { Graph } from "../graph/flow.ts";
import { checkpointCharsMax } from "../limits.ts";
import { inputsOf } from "../run/inputs.ts";
import type { Parts } from "../run/parts.ts";
import { waitsOf } from "../run/pending.ts";
import type { Phase, RunState } from "../run/state.ts";
import { checkpointVersion, manifestFrom } from "./seal.ts";

/** What a seal says about itself, before anything of its body is looked at. */
type SealHeader = Verified["header"];

/** A checkpoint that was opened; `mac` names this very text. Whoever goes on from `state` owns it. */
export interface Opened {
  readonly state: RunState;
  readonly mac: string;
}

/** O1–O6 for a checkpoint's text. */
export function openCheckpoint(graph: Graph, parts: Parts, text: string, known?: Opened): Opened {
  if (text.length > checkpointCharsMax)
    throw tampered(undefined, "it is longer than any checkpoint"); // O1
  const { header, body, mac } = verified(text, parts); // O2
  if (header["format"] !== checkpointVersion) {
    throw tampered(
      undefined,
      `its format is ${String(header["format"])}, and this version reads ${checkpointVersion}`,
    );
  }
  checkGraph(graph, header); // O3, O4
  const run = String(header["run"]);
  if (header["phase"] !== "paused") throw terminal(run, String(header["phase"])); // O5
  if (known?.mac === mac) return known;
  const state = parts.sealer.decode(body, { schema: graph.reachable }) as RunState; // O6
  const opened: RunState = { ...state, seed: { ...state.seed, manifest: graph.manifest } };
  if (opened.seed.runId !== run || opened.revision !== header["rev"])
    throw tampered(run, "its parts contradict each other");
  checkState(graph, opened);
  return { state: opened, mac };
}

/** O3, O4: whose it is. Also for the first entry of a log. */
export function checkGraph(graph: Graph, header: SealHeader): void {
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
  if (header["graph"] === graph.digest) return;
  const differs = differences(manifestFrom(String(header["parts"])), graph.manifest);
  throw new GraphVersionMismatchError(
    "graph-version-mismatch",
    `the graph of '${graph.name}' changed since run ${runId} paused: ${differs.join(", ")}`,
    { runId, flow: graph.name, differs },
  );
}

/** Refuses a run id other than the one asked for. */
export function checkRun(asked: string, runId: string): void {
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

/** Which phases go with which visits (FLOW-60). */
function phaseHolds(run: RunState): boolean {
  const statuses = new Set(run.visits.map((visit) => visit.status));
  switch (run.phase.is) {
    case "routed":
      return !statuses.has("waiting") && !statuses.has("finished");
    case "running":
      return run.visits.length > 0;
    case "paused":
      return statuses.has("waiting") && !statuses.has("ready");
    case "ended":
      return true;
  }
}

/** O7: what the waiting visits showed is what they would show now (FLOW-63). */
export function checkInputs(graph: Graph, run: RunState, parts: Parts): void {
  for (const visit of run.visits) {
    if (visit.status === "finished" || visit.inputs === undefined) continue;
    const was = visit.inputs;
    const is = inputsOf(graph.nodes.get(visit.node)!, run.state);
    const same = (a: unknown, b: unknown): boolean => text(a, parts) === text(b, parts);
    let differs: string | undefined;
    if (was.kind === "gate" && is?.kind === "gate") {
      if (was.asks !== is.asks) differs = "when";
      else if (!same(was.payload, is.payload)) differs = "payload";
    } else if (was.kind === "call" && is?.kind === "call") {
      if (!same(was.args, is.args)) differs = "args";
    } else differs = "kind";
    if (differs === undefined) continue;
    throw new GraphVersionMismatchError(
      "graph-version-mismatch",
      `'${visit.node}' would show something else now than what was shown: its ${differs} differs`,
      { runId: run.seed.runId, node: visit.path, field: differs },
    );
  }
}

function text(kept: unknown, parts: Parts): string {
  const {
    form,
    text: sealed,
    value,
  } = kept as { form: "text" | "value"; text?: string; value?: unknown };
  return form === "text" ? sealed! : parts.sealer.encode(value);
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
