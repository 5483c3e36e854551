import { requestFromRedacted, requestOf, type ApprovalRequest } from "@holdpoint/approvals";

import { pendingId, type Wait } from "./journal.ts";
import type { Frame, RunState, VisitState } from "./state.ts";
import { ownExecutions, type OpenExecution } from "./tree.ts";

/** One thing that waits for a person, without anything that only that person should see. */
export interface PendingView {
  readonly kind: "approval";
  /** What an answer names: the record's id where the port keeps one, else the call's. */
  readonly id: string;
  /** The visit that waits. */
  readonly path: string;
  /** The tool, or `node:<flow>.<node>` for a gate. */
  readonly tool: string;
}

/** One thing that waits, as a paused result holds it. Its printed forms don't show the arguments (APR-02). */
export interface Pending extends PendingView {
  readonly request: ApprovalRequest;
}

/** Something that waits, with the path of the execution that asked for it. */
export interface Waiting {
  readonly path: string;
  readonly wait: Wait;
}

/** What waits in a frame, the run's own by default, in node, item, call order, whoever's port answered first (FLOW-21). */
export function waitsOf(run: RunState, frame: Frame = run): Waiting[] {
  return frame.visits.flatMap((visit) => waitsIn(run, visit));
}

/** What waits in one visit. */
export function waitsIn(run: RunState, visit: VisitState): Waiting[] {
  return ownExecutions(visit).flatMap((open) => waitsWithin(run, open));
}

/** A nested run's waits stand where it was begun among what its execution asked for. */
export function waitsWithin(
  run: RunState,
  { path, execution: { waits, nested } }: OpenExecution,
): Waiting[] {
  if (nested.length === 0) return inOrder(waits).map((wait) => ({ path, wait }));
  const asked = [
    ...waits.map((wait) => ({ order: wait.order, within: [{ path, wait }] })),
    ...nested.map(({ order, path: inner }) => ({
      order,
      within: waitsOf(run, run.frames.get(inner)!),
    })),
  ];
  return inOrder(asked).flatMap(({ within }) => within);
}

function inOrder<T extends { readonly order: number }>(list: readonly T[]): readonly T[] {
  return list.length > 1 ? list.toSorted((a, b) => a.order - b.order) : list;
}

/** The waiting things that nobody answered yet. */
export function openWaits(run: RunState, frame: Frame = run): Waiting[] {
  return waitsOf(run, frame).filter(({ wait }) => wait.answer === undefined);
}

export function pendingView(path: string, wait: Wait): PendingView {
  return { kind: wait.kind, id: pendingId(wait), path, tool: wait.facts.tool };
}

/** A pending with its request. Arguments that nobody here could decode are gone, as in any redacted form. */
export function pendingOf(
  path: string,
  wait: Wait,
  args: { readonly value: unknown } | undefined,
): Pending {
  const id = pendingId(wait);
  const { requestedAt, argumentsDigest, facts } = wait;
  const request =
    args === undefined
      ? requestFromRedacted({ ...facts, id, requestedAt, argumentsDigest })
      : requestOf(
          { ...facts, arguments: args.value },
          { id, requestedAt, digest: () => argumentsDigest },
        );
  return { ...pendingView(path, wait), request };
}
