import { Chain, chainStart, type ChainEnd } from "../checkpoint/chain.ts";
import { formParts } from "../checkpoint/seal.ts";
import { checkGraph, tampered } from "../checkpoint/open.ts";
import { FlowError } from "../errors.ts";
import type { Graph } from "../graph/flow.ts";
import { logPageMax } from "../limits.ts";
import type { RunEvent } from "./event.ts";
import { begin, fold } from "./fold.ts";
import type { LogRow, RunLog } from "./log.ts";
import type { Parts } from "./parts.ts";
import type { RunState } from "./state.ts";

/** A run as its log tells it. */
export interface Replayed {
  readonly state: RunState;
  readonly events: readonly RunEvent[];
  readonly end: ChainEnd;
}

/**
 * Reads a run's log, verifies every entry and the chain, and folds it (FLOW-73, FLOW-74).
 * @throws FlowError `run-not-found`, `checkpoint-tampered`, `graph-mismatch`, `graph-version-mismatch`
 */
export async function readRun(
  graph: Graph,
  parts: Parts,
  scope: string,
  runId: string,
): Promise<Replayed> {
  const log = parts.log;
  if (log === undefined)
    throw new FlowError("run-not-found", `this runner has no log to find run ${runId} in`, {
      runId,
    });
  const rows = await allRows(log, scope, runId);
  if (rows.length === 0)
    throw new FlowError("run-not-found", `there is no run ${runId}`, { runId });
  const chain = new Chain({ keyring: parts.keyring, forms: formParts(graph, parts), scope, runId });
  const { events, end } = chain.open(chainStart, rows, {
    schema: graph.reachable,
    // Whose it is is said by the first entry's header; nothing is decoded before that is known (FLOW-61).
    first: (header) => checkGraph(graph, header),
  });
  return { state: foldAll(events, graph, runId), events, end };
}

async function allRows(log: RunLog, scope: string, runId: string): Promise<LogRow[]> {
  const rows: LogRow[] = [];
  for (;;) {
    const page = await log.read(scope, runId, rows.length, logPageMax);
    rows.push(...page);
    if (page.length < logPageMax) return rows;
  }
}

function foldAll(events: readonly RunEvent[], graph: Graph, runId: string): RunState {
  const [first, ...rest] = events;
  if (first?.type !== "run-started") throw tampered(runId, "its log does not begin with a start");
  const seed = { ...first.seed, manifest: graph.manifest };
  const state = begin({ ...first, seed });
  for (const event of rest) fold(state, event);
  return state;
}
