import type { Header } from "@holdpoint/seal";

import { Chain, chainStart, type ChainEnd } from "../checkpoint/chain.ts";
import { formParts } from "../checkpoint/seal.ts";
import { readableBy, tampered, wayFrom } from "../checkpoint/open.ts";
import {
  noSnapshot,
  assertOfLog,
  openedSnapshot,
  verifiedSnapshot,
  type KnownSnapshot,
  type SnapshotNeed,
} from "../checkpoint/snapshot.ts";
import { Whole } from "../checkpoint/whole.ts";
import { FlowError } from "../errors.ts";
import type { Graph } from "../graph/flow.ts";
import type { Migration } from "../graph/migration.ts";
import { logPageMax } from "../limits.ts";
import type { RunEvent } from "./event.ts";
import { begin, fold } from "./fold.ts";
import type { LogRow, RunLog, SnapshotRow } from "./log.ts";
import type { Parts } from "./parts.ts";
import type { RunState } from "./state.ts";

/** A run's log, verified and decoded: all of it, or what came after a snapshot. */
export interface Told {
  readonly events: readonly RunEvent[];
  readonly end: ChainEnd;
  /** How it is carried over to the graph as it is now; empty: it is of that graph. */
  readonly way: readonly Migration[];
}

/** A run as its log tells it, to go on from. */
export interface Replayed extends Omit<Told, "events"> {
  readonly state: RunState;
  /** What was written since its last snapshot. */
  readonly need: SnapshotNeed;
}

/** Which run is read, for which graph. */
interface Reading {
  readonly graph: Graph;
  readonly parts: Parts;
  readonly log: RunLog;
  readonly scope: string;
  readonly runId: string;
}

/**
 * Reads a run's whole log, verifies every entry and the chain, and decodes it (FLOW-73, FLOW-74).
 * @throws FlowError `run-not-found`, `checkpoint-tampered`, `graph-mismatch`, `graph-version-mismatch`
 */
export async function readLog(
  graph: Graph,
  parts: Parts,
  scope: string,
  runId: string,
): Promise<Told> {
  return (await readAll({ graph, parts, log: logOf(parts, runId), scope, runId })).told;
}

/**
 * The events after a revision, read from the newest snapshot on where that is not past it: what is before a snapshot is vouched
 * for by that. Without such a one the whole log is read. `goOn`: the run as it was read; it owns what the events hold, so whoever
 * wants these looks first. Absent where the run is better read anew.
 * @throws FlowError as `readRun`
 */
export async function readSince(
  graph: Graph,
  parts: Parts,
  { scope, runId, after }: { scope: string; runId: string; after: number },
): Promise<ReadSince> {
  const log = logOf(parts, runId);
  const at = { graph, parts, log, scope, runId };
  const { row, rows } = await tailOf(at);
  const snapshot = row && verifiedSnapshot(row, parts, { scope, runId });
  if (snapshot === undefined) {
    const whole = await readAll(at, row === undefined ? rows : undefined);
    return {
      events: whole.told.events.slice(after),
      revision: whole.told.end.revision,
      goOn: () => replayedWhole(whole, runId, row?.version),
    };
  }
  if (snapshot.row.revision > after) {
    const { told } = await readAll(at);
    return { events: told.events.slice(after), revision: told.end.revision };
  }
  const since = await readAfter(snapshot, at, rows);
  return {
    events: since.told.events.slice(after - snapshot.row.revision),
    revision: since.told.end.revision,
    goOn: () => replayedSince(since, snapshot),
  };
}

/**
 * Reads a run's log from its newest snapshot on, and folds it: the state owns what its events held (FLOW-72).
 * @throws FlowError as `readLog`; `checkpoint-rolled-back` where the log ends before the snapshot
 */
export async function readRun(
  graph: Graph,
  parts: Parts,
  scope: string,
  runId: string,
): Promise<Replayed> {
  const log = logOf(parts, runId);
  const at = { graph, parts, log, scope, runId };
  const { row, rows } = await tailOf(at);
  const snapshot = row && verifiedSnapshot(row, parts, { scope, runId });
  if (snapshot !== undefined) return replayedSince(await readAfter(snapshot, at, rows), snapshot);
  return replayedWhole(
    await readAll(at, row === undefined ? rows : undefined),
    runId,
    row?.version,
  );
}

/** What came after a revision, and where the log ends. */
interface ReadSince {
  readonly events: readonly RunEvent[];
  readonly revision: number;
  readonly goOn?: () => Replayed;
}

/** What was read of a log, and its characters. */
interface Read {
  readonly told: Told;
  readonly chars: number;
}

/** The same from a snapshot on; `state`: as that says, to be owned by whoever goes on from it. */
interface ReadAfter extends Read {
  readonly state: RunState;
}

function replayedWhole({ told, chars }: Read, runId: string, version = 0): Replayed {
  const { events, end, way } = told;
  const need = { ...noSnapshot, version, eventsSince: events.length, charsSince: chars };
  return { state: foldAll(events, runId), end, way, need };
}

function replayedSince(
  { told, chars: charsSince, state }: ReadAfter,
  from: KnownSnapshot,
): Replayed {
  const { version, text } = from.row;
  const { events, end, way } = told;
  for (const event of events) fold(state, event);
  const need = { version, chars: text.length, eventsSince: events.length, charsSince };
  return { state, end, way, need };
}

/** The newest snapshot; and, where the log tells them with it, the first page of the entries from its own on. */
interface Tail {
  readonly row: SnapshotRow | undefined;
  readonly rows: readonly LogRow[] | undefined;
}

async function tailOf({ log, scope, runId }: Reading): Promise<Tail> {
  if (log.tail === undefined) return { row: await log.snapshot(scope, runId), rows: undefined };
  const { snapshot: row, rows } = await log.tail(scope, runId, logPageMax);
  return { row, rows };
}

/** What came after a snapshot, in the log that it is of. */
async function readAfter(
  snapshot: KnownSnapshot,
  at: Reading,
  page: Tail["rows"],
): Promise<ReadAfter> {
  const { runId } = at;
  const { row, header } = snapshot;
  const { revision } = row;
  const [entry, ...rows] = await rowsAfter(at, revision - 1, page);
  if (entry === undefined) {
    const message = `the log of run ${runId} ends before its snapshot: older rows were put back`;
    throw new FlowError("checkpoint-rolled-back", message, { runId, revision });
  }
  const start = chainOf(at).at(entry, revision);
  assertOfLog(snapshot, start, runId);
  const logged = opened(at, rows, start, { entry, of: header });
  const state = openedSnapshot(snapshot, at);
  const whole = new Whole(runId, state);
  const told = { ...logged, events: logged.events.map((event) => whole.take(event)) };
  return { told, chars: charsOf(rows), state };
}

async function readAll(at: Reading, page?: Tail["rows"]): Promise<Read> {
  const { runId } = at;
  const rows = await rowsAfter(at, 0, page);
  if (rows.length === 0)
    throw new FlowError("run-not-found", `there is no run ${runId}`, { runId });
  const logged = opened(at, rows, chainStart);
  const whole = new Whole(runId);
  const told = { ...logged, events: logged.events.map((event) => whole.take(event)) };
  return { told, chars: charsOf(rows) };
}

/** Whose it is is said by headers; nothing is decoded before that is known (FLOW-61). */
function opened(
  at: Reading,
  rows: readonly LogRow[],
  start: ChainEnd,
  from?: { readonly entry: LogRow; readonly of: Header },
): Told {
  const { graph, parts } = at;
  let way: readonly Migration[] = [];
  const before = (header: Header): unknown => {
    way = wayFrom(graph, header, parts);
    return readableBy(graph, parts);
  };
  const { events, end } = chainOf(at).open(start, rows, before, from);
  return { events, end, way };
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

/** `first`: their first page, where it was read already. */
async function rowsAfter(
  { log, scope, runId }: Reading,
  after: number,
  first?: Tail["rows"],
): Promise<LogRow[]> {
  const rows: LogRow[] = [];
  for (let page = first; ; page = undefined) {
    page ??= await log.read(scope, runId, after + rows.length, logPageMax);
    rows.push(...page);
    if (page.length < logPageMax) return rows;
  }
}

function foldAll(events: readonly RunEvent[], runId: string): RunState {
  const [first, ...rest] = events;
  if (first?.type !== "run-started") throw tampered(runId, "its log does not begin with a start");
  const state = begin(first);
  for (const event of rest) fold(state, event);
  return state;
}
