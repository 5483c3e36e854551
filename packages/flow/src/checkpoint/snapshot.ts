/**
 * Snapshots of a durable run: its fold after some entry, so that taking it up reads what came after, not all of it (FLOW-72).
 *
 * N1 A snapshot names its run, its entry and that entry's MAC. The entry itself is read with it: a log that ends before its
 *    snapshot, or has another entry there, is refused.
 * N2 What it costs stays below what is logged anyway: one is taken when the events since the last one are many, and hold several
 *    times what that one did, since what comes after it writes the state once more. So all snapshots of a run together are a
 *    fixed part of its log, however large its state grows (FLOW-73).
 * N3 The log alone says what happened. A snapshot that is missing, or of a form that this version does not read, is done
 *    without; one that was changed is refused.
 */
import { isSealError, sign, verify, type Header } from "@holdpoint/seal";

import { isFlowError } from "../errors.ts";
import type { Graph } from "../graph/flow.ts";
import { snapshotCharsFactor, snapshotEventsMin } from "../limits.ts";
import { snapshotWrite, type SnapshotRow } from "../run/log.ts";
import type { Parts } from "../run/parts.ts";
import type { RunState } from "../run/state.ts";
import type { ChainEnd } from "./chain.ts";
import { graphHeader, manifestIn } from "./graph-header.ts";
import { decodedState, tampered } from "./open.ts";
import { encodeState } from "./seal.ts";

const purpose = "run-snapshot";
/** The version of what a snapshot holds: 1, first release. */
const snapshotVersion = 1;

/** What was written of a run since its last snapshot. */
export interface SnapshotNeed {
  /** Of the snapshot's row; 0: there is none. */
  readonly version: number;
  /** The last snapshot's length. */
  readonly chars: number;
  readonly eventsSince: number;
  readonly charsSince: number;
}

export const noSnapshot: SnapshotNeed = { version: 0, chars: 0, eventsSince: 0, charsSince: 0 };

/** N2 */
export function isDue({ chars, eventsSince, charsSince }: SnapshotNeed): boolean {
  return eventsSince >= snapshotEventsMin && charsSince >= snapshotCharsFactor * chars;
}

/** The state's text for a snapshot; `undefined`: it holds what can't be sealed, and the run goes on without. */
export function snapshotBody(run: RunState, graph: Graph, parts: Parts): string | undefined {
  try {
    return encodeState(run, graph, parts);
  } catch (error) {
    if (isFlowError(error, "state-not-sealable")) return undefined;
    throw error;
  }
}

/** The write that puts a state's snapshot in the place of the last one. */
export function sealSnapshot(
  body: string,
  { seed }: RunState,
  { end, version, parts }: { end: ChainEnd; version: number; parts: Parts },
): ReturnType<typeof snapshotWrite> {
  const { text } = sign(body, {
    keyring: parts.keyring,
    purpose,
    header: {
      format: snapshotVersion,
      scope: seed.scope,
      run: seed.runId,
      ...graphHeader(seed),
      rev: end.revision,
      entry: end.mac, // N1
    },
  });
  return snapshotWrite(seed.scope, seed.runId, { version, revision: end.revision, text });
}

/** A snapshot whose seal holds, before anything of it is decoded. */
export interface KnownSnapshot {
  readonly row: SnapshotRow;
  readonly header: Header;
  readonly body: string;
}

/** @throws FlowError `checkpoint-tampered`; answers `undefined` for a form that this version does not read (N3) */
export function verifiedSnapshot(
  row: SnapshotRow,
  parts: Parts,
  { scope, runId }: { readonly scope: string; readonly runId: string },
): KnownSnapshot | undefined {
  try {
    const { header, body } = verify(row.text, { keyring: parts.keyring, purpose });
    const isOwn =
      header["scope"] === scope && header["run"] === runId && header["rev"] === row.revision;
    if (!isOwn) throw tampered(runId, "its snapshot is of another run or entry");
    return header["format"] === snapshotVersion ? { row, header, body } : undefined;
  } catch (error) {
    if (!isSealError(error)) throw error;
    throw tampered(runId, "its snapshot was changed", error);
  }
}

/** N1: `end`: where the chain stands at the entry that the snapshot names. @throws FlowError `checkpoint-tampered` */
export function assertOfLog({ header }: KnownSnapshot, end: ChainEnd, runId: string): void {
  if (header["entry"] !== end.mac) throw tampered(runId, "its log is not the one of its snapshot");
}

/** The state of a snapshot that is one of its log. @throws FlowError `checkpoint-tampered`, `state-invalid` */
export function openedSnapshot(
  { row, header, body }: KnownSnapshot,
  { graph, parts, runId }: { graph: Graph; parts: Parts; runId: string },
): RunState {
  const state = decodedState(graph, parts, runId, body);
  if (state.seed.runId !== runId || state.revision !== row.revision)
    throw tampered(runId, "its snapshot contradicts itself");
  const manifest = manifestIn(header) ?? {};
  return { ...state, seed: { ...state.seed, manifest } };
}
