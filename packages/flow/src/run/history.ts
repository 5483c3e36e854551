import { Chain, chainStart, type ChainEnd } from "../checkpoint/chain.ts";
import { formParts } from "../checkpoint/seal.ts";
import { readableBy, tampered, wayFrom } from "../checkpoint/open.ts";
import { FlowError } from "../errors.ts";
import type { Graph } from "../graph/flow.ts";
import type { Migration } from "../graph/migration.ts";
import { logPageMax } from "../limits.ts";
import type { RunEvent } from "./event.ts";
import { begin, fold } from "./fold.ts";
import type { LogRow, RunLog } from "./log.ts";
import type { Parts } from "./parts.ts";
import type { RunState } from "./state.ts";

/** A run's log, verified and decoded. */
export interface Told {
  readonly events: readonly RunEvent[];
  readonly end: ChainEnd;
  /** How it is carried over to the graph as it is now; empty: it is of that graph. */
  readonly way: readonly Migration[];
}

/** A run as its log tells it. */
export interface Replayed extends Told {
  readonly state: RunState;
}

/**
 * Reads a run's log, verifies every entry and the chain, and decodes it (FLOW-73, FLOW-74).
 * @throws FlowError `run-not-found`, `checkpoint-tampered`, `graph-mismatch`, `graph-version-mismatch`
 */
export async function readLog(
  graph: Graph,
  parts: Parts,
  scope: string,
  runId: string,
): Promise<Told> {
  const log = parts.log;
  if (log === undefined)
    throw new FlowError("run-not-found", `this runner has no log to find run ${runId} in`, {
      runId,
    });
  const rows = await allRows(log, scope, runId);
  if (rows.length === 0)
    throw new FlowError("run-not-found", `there is no run ${runId}`, { runId });
  const chain = new Chain({ keyring: parts.keyring, forms: formParts(graph, parts), scope, runId });
  let way: readonly Migration[] = [];
  const { events, end } = chain.open(chainStart, rows, (header) => {
    // Whose it is is said by headers; nothing is decoded before that is known (FLOW-61).
    way = wayFrom(graph, header, parts);
    return readableBy(graph, parts);
  });
  return { events, end, way };
}

/** Reads a run's log, and folds it: the state owns what its events held. @throws as `readLog` */
export async function readRun(
  graph: Graph,
  parts: Parts,
  scope: string,
  runId: string,
): Promise<Replayed> {
  const told = await readLog(graph, parts, scope, runId);
  return { ...told, state: foldAll(told.events, runId) };
}

async function allRows(log: RunLog, scope: string, runId: string): Promise<LogRow[]> {
  const rows: LogRow[] = [];
  for (;;) {
    const page = await log.read(scope, runId, rows.length, logPageMax);
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
