/**
 * What happened to the records of a scope, in the order it was committed (APR-27).
 *
 * N1 Events are read from the audit trail, so one is told only of what is durable, and none is ever lost: a watcher that was
 *    away goes on from its cursor.
 * N2 An event holds ids and outcomes, never arguments.
 */

import type { ActorRef } from "./actor.ts";
import { openChange } from "./audit.ts";
import { openCursor, sealCursor } from "./cursor.ts";
import type { Outcome } from "./decision.ts";
import { limits } from "./limits.ts";
import { checkedLimit } from "./listing.ts";
import type { RecordAccess } from "./record-access.ts";
import type { AuditFact } from "./record.ts";
import { checkedId } from "./request.ts";
import type { StoredChange } from "./store.ts";

export type ApprovalEventType =
  | "approval.requested"
  | "approval.decided"
  | "approval.consumed"
  | "approval.withdrawn";

export interface ApprovalEvent {
  readonly type: ApprovalEventType;
  readonly scope: string;
  /** The record. */
  readonly id: string;
  readonly at: number;
  readonly by: ActorRef;
  /** Of `decided`. */
  readonly approved?: boolean;
  /** Of `consumed` and `withdrawn`, where it is known by then. */
  readonly outcome?: Outcome;
  /** Of a record that stands for an edit, and of the one that it replaced: the other one. */
  readonly link?: string;
  /** Go on after this event. */
  readonly cursor: string;
}

export interface ChangesQuery {
  /** From an event or a page before; absent: from the beginning. */
  readonly after?: string;
  /** Entries read, 1 to 500; default 50. Not every entry is an event. */
  readonly limit?: number;
}

export interface ApprovalChanges {
  readonly events: readonly ApprovalEvent[];
  /** Keys of entries that are not ours or were changed: `verifyAudit` says more. */
  readonly broken: readonly string[];
  /** Go on from here, whether or not there were events. */
  readonly cursor: string;
  /** Whether there was more to read than `limit`. */
  readonly more: boolean;
}

const types: Readonly<Partial<Record<AuditFact["kind"], ApprovalEventType>>> = {
  requested: "approval.requested",
  decided: "approval.decided",
  consumed: "approval.consumed",
  withdrawn: "approval.withdrawn",
};

/** @throws ApprovalError `cursor-invalid`, `filter-invalid`, `id-invalid`, `store-unavailable` */
export async function readChanges(
  access: RecordAccess,
  scope: string,
  query: ChangesQuery,
): Promise<ApprovalChanges> {
  const limit = checkedLimit(query.limit ?? limits.pageDefault);
  const from = positionOf(access, scope, query.after);
  const changes = await access.store.changes(scope, from, limit);
  const events: ApprovalEvent[] = [];
  const broken: string[] = [];
  for (const change of changes) {
    const opened = openChange(scope, change.row, access.keyring);
    if (opened === undefined) broken.push(change.row.key);
    else if (types[opened.fact.kind] !== undefined) {
      events.push(eventOf(access, scope, change, opened));
    }
  }
  const to = changes.at(-1)?.position ?? from;
  return { events, broken, cursor: cursorAt(access, scope, to), more: changes.length === limit };
}

/** Where the changes of a scope stand now: a watcher that starts here is told of what comes later only. */
export async function currentCursor(access: RecordAccess, scope: string): Promise<string> {
  checkedId(scope, "scope");
  return cursorAt(access, scope, await access.store.lastChange(scope));
}

/** Events as they come, until `signal` aborts. Ends quietly then; throws what the store throws. */
export async function* watchChanges(
  access: RecordAccess,
  scope: string,
  { after, signal }: { readonly after?: string; readonly signal: AbortSignal },
): AsyncGenerator<ApprovalEvent, void> {
  let cursor = after;
  while (!signal.aborted) {
    const page = await readChanges(access, scope, cursor === undefined ? {} : { after: cursor });
    for (const event of page.events) {
      if (signal.aborted) return;
      yield event;
    }
    cursor = page.cursor;
    // N1: the store only wakes; what there is to tell is read again from the cursor.
    if (!page.more) await access.store.wait(scope, positionOf(access, scope, cursor), signal);
  }
}

function eventOf(
  access: RecordAccess,
  scope: string,
  { position }: StoredChange,
  { id, fact }: { readonly id: string; readonly fact: AuditFact },
): ApprovalEvent {
  const { at, by, vote, outcome, link } = fact;
  return {
    type: types[fact.kind]!,
    scope,
    id,
    at,
    by,
    ...(fact.kind === "decided" ? { approved: vote?.approved === true } : {}),
    ...(outcome === undefined ? {} : { outcome }),
    ...(link === undefined ? {} : { link }),
    cursor: cursorAt(access, scope, position),
  };
}

function cursorAt(access: RecordAccess, scope: string, position: number): string {
  return sealCursor(access.keyring, { scope, of: "changes" }, position);
}

function positionOf(access: RecordAccess, scope: string, cursor: string | undefined): number {
  checkedId(scope, "scope"); // APR-05
  if (cursor === undefined) return 0;
  return Number(openCursor(access.keyring, { scope, of: "changes" }, cursor));
}
