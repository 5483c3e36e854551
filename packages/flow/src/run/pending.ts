import { requestFromRedacted, requestOf, type ApprovalRequest } from "@holdpoint/approvals";

import { pendingId, type Wait } from "./journal.ts";
import type { RunState, VisitState } from "./state.ts";
import { executionsIn } from "./tree.ts";

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

/** What waits in a run, in node, item, call order, whoever's port answered first (FLOW-21). */
export function waitsOf(run: RunState): Waiting[] {
  return run.visits.flatMap((visit) => waitsIn(run, visit));
}

/** What waits in one visit. */
export function waitsIn(run: RunState, visit: VisitState): Waiting[] {
  return executionsIn(run, visit).flatMap(({ path, execution: { waits } }) => {
    const inOrder = waits.length > 1 ? [...waits].sort((a, b) => a.order - b.order) : waits;
    return inOrder.map((wait) => ({ path, wait }));
  });
}

/** The waiting things that nobody answered yet. */
export function openWaits(run: RunState): Waiting[] {
  return waitsOf(run).filter(({ wait }) => wait.answer === undefined);
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
