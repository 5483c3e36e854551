import { Chain, chainStart, type ChainEnd } from "../checkpoint/chain.ts";
import { formParts } from "../checkpoint/seal.ts";
import { checkGraph, tampered } from "../checkpoint/open.ts";
import {
  noSnapshot,
  openedSnapshot,
  verifiedSnapshot,
  type KnownSnapshot,
  type SnapshotNeed,
} from "../checkpoint/snapshot.ts";
import { FlowError } from "../errors.ts";
import type { Graph } from "../graph/flow.ts";
import { logPageMax } from "../limits.ts";
import type { RunEvent } from "./event.ts";
import { begin, fold } from "./fold.ts";
import type { LogRow, RunLog } from "./log.ts";
import type { Parts } from "./parts.ts";
import type { RunState } from "./state.ts";

/** A run as its log tells it, to go on from. */
export interface Replayed {
  readonly state: RunState;
  readonly end: ChainEnd;
  /** What was written since its last snapshot. */
  readonly need: SnapshotNeed;
}

/**
 * Reads a run's log from its newest snapshot on, verifies every entry read and the chain, and folds it (FLOW-72, FLOW-73).
 * @throws FlowError `run-not-found`, `checkpoint-tampered`, `checkpoint-rolled-back`, `graph-mismatch`, `graph-version-mismatch`
 */
export async function readRun(
  graph: Graph,
  parts: Parts,
  scope: string,
  runId: string,
): Promise<Replayed> {
  const log = logOf(parts, runId);
  const row = await log.snapshot(scope, runId);
  const snapshot = row && verifiedSnapshot(row, parts, { scope, runId });
  if (snapshot !== undefined) return readFrom(snapshot, log, { graph, parts, scope, runId });
  const { events, end, chars } = await readAll(graph, parts, scope, runId);
  const need = {
    ...noSnapshot,
    version: row?.version ?? 0,
    eventsSince: events.length,
    charsSince: chars,
  };
  return { state: foldAll(events, graph, runId), end, need };
}

/** Everything that happened to a run, in order, verified (FLOW-74). @throws as `readRun` */
export async function readHistory(
  graph: Graph,
  parts: Parts,
  scope: string,
  runId: string,
): Promise<readonly RunEvent[]> {
  return (await readAll(graph, parts, scope, runId)).events;
}

interface Reading {
  readonly graph: Graph;
  readonly parts: Parts;
  readonly scope: string;
  readonly runId: string;
}

async function readFrom(snapshot: KnownSnapshot, log: RunLog, at: Reading): Promise<Replayed> {
  const { graph, parts, scope, runId } = at;
  const { revision, version, text } = snapshot.row;
  const [entry, ...rows] = await rowsAfter(log, scope, runId, revision - 1);
  if (entry === undefined) {
    const message = `the log of run ${runId} ends before its snapshot: older rows were put back`;
    throw new FlowError("checkpoint-rolled-back", message, { runId, revision });
  }
  const chain = chainOf(at);
  const start = chain.at(entry, revision);
  const state = openedSnapshot(snapshot, start, { graph, parts, runId });
  const { events, end } = chain.open(start, rows, { schema: graph.reachable, from: entry });
  for (const event of events) fold(state, event);
  const need = {
    version,
    chars: text.length,
    eventsSince: events.length,
    charsSince: charsOf(rows),
  };
  return { state, end, need };
}

async function readAll(graph: Graph, parts: Parts, scope: string, runId: string) {
  const rows = await rowsAfter(logOf(parts, runId), scope, runId, 0);
  if (rows.length === 0)
    throw new FlowError("run-not-found", `there is no run ${runId}`, { runId });
  const { events, end } = chainOf({ graph, parts, scope, runId }).open(chainStart, rows, {
    schema: graph.reachable,
    // Whose it is is said by the first entry's header; nothing is decoded before that is known (FLOW-61).
    first: (header) => checkGraph(graph, header),
  });
  return { events, end, chars: charsOf(rows) };
}

function logOf({ log }: Parts, runId: string): RunLog {
  if (log !== undefined) return log;
  throw new FlowError("run-not-found", `this runner has no log to find run ${runId} in`, { runId });
}

function chainOf({ graph, parts, scope, runId }: Reading): Chain {
  return new Chain({ keyring: parts.keyring, forms: formParts(graph, parts), scope, runId });
}

function charsOf(rows: readonly LogRow[]): number {
  return rows.reduce((sum, { text }) => sum + text.length, 0);
}

async function rowsAfter(
  log: RunLog,
  scope: string,
  runId: string,
  after: number,
): Promise<LogRow[]> {
  const rows: LogRow[] = [];
  for (;;) {
    const page = await log.read(scope, runId, after + rows.length, logPageMax);
    rows.push(...page);
    if (page.length < logPageMax) return rows;
  }
}

function foldAll(events: readonly RunEvent[], graph: Graph, runId: string): RunState {
  const [first, ...rest] = events;
  if (first?.type !== "run-started") throw tampered(runId, "its log does not begin with a start");
  const seed = { ...first.seed, manifest: graph.manifest };
  const state = begin({ ...first, seed }, graph.start);
  for (const event of rest) fold(state, event);
  return state;
}
