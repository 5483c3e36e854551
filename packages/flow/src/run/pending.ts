import { requestOf, type ApprovalRequest } from "@holdpoint/approvals";

import { pendingId, type Wait } from "./journal.ts";
import type { RunState } from "./state.ts";

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

/** What waits in a round, in node, item, call order (FLOW-21). */
export function waitsOf(run: RunState): { readonly path: string; readonly wait: Wait }[] {
  return run.visits.flatMap((visit) =>
    visit.status === "finished"
      ? []
      : visit.execution.waits.map((wait) => ({ path: visit.path, wait })),
  );
}

/** The waiting things that nobody answered yet. */
export function openWaits(run: RunState): { readonly path: string; readonly wait: Wait }[] {
  return waitsOf(run).filter(({ wait }) => wait.answer === undefined);
}

export function pendingView(path: string, wait: Wait): PendingView {
  return { kind: wait.kind, id: pendingId(wait), path, tool: wait.facts.tool };
}

/** A pending with its request; the arguments decoded by whoever can. */
export function pendingOf(path: string, wait: Wait, args: unknown): Pending {
  const request = requestOf(
    { ...wait.facts, arguments: args },
    { id: pendingId(wait), requestedAt: wait.requestedAt, digest: () => wait.argumentsDigest },
  );
  return { ...pendingView(path, wait), request };
}
