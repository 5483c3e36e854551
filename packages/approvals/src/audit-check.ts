import { openEntry, type AuditFault } from "./audit.ts";
import type { Outcome } from "./decision.ts";
import { limits } from "./limits.ts";
import type { RecordAccess } from "./record-access.ts";
import type { ActorRef } from "./actor.ts";
import type { AuditFact } from "./record.ts";
import { checkedId } from "./request.ts";

/** One transition of a record, for a person to read. */
export interface AuditEntry {
  readonly number: number;
  readonly kind: AuditFact["kind"];
  readonly at: number;
  readonly by: ActorRef;
  readonly attemptId: string;
  readonly approved?: boolean;
  readonly note?: string;
  readonly outcome?: Outcome;
  /** The other record of a replacement. */
  readonly link?: string;
}

/**
 * What a check of a trail found. `broken`: entry number `entry` is the first that does not fit; 0 is the record itself.
 * `entries` are those before it.
 */
export type AuditReport =
  | { readonly status: "whole"; readonly entries: readonly AuditEntry[] }
  | {
      readonly status: "broken";
      readonly entry: number;
      readonly fault: AuditFault | "record";
      readonly entries: readonly AuditEntry[];
    }
  | { readonly status: "missing" };

/** Checks the whole trail of a record against its seal. @throws ApprovalError `id-invalid`, `store-unavailable` */
export async function checkAudit(
  access: RecordAccess,
  scope: string,
  id: string,
): Promise<AuditReport> {
  checkedId(scope, "scope");
  checkedId(id, "approval id");
  const row = await access.store.get(scope, id);
  if (row === undefined) return { status: "missing" };
  const opened = access.examine(scope, row);
  if ("fault" in opened) return { status: "broken", entry: 0, fault: "record", entries: [] };
  const entries: AuditEntry[] = [];
  let before = "";
  for (const row of await access.store.history(scope, id, 0, limits.trailMax)) {
    const number = entries.length + 1;
    const entry = openEntry(row, { scope, id, number, before }, access.keyring);
    if ("fault" in entry) return { status: "broken", entry: number, fault: entry.fault, entries };
    if (number > opened.chain.count) {
      return { status: "broken", entry: number, fault: "beyond", entries };
    }
    before = entry.mac;
    entries.push(shownEntry(number, entry.fact));
  }
  if (entries.length < opened.chain.count) {
    return { status: "broken", entry: entries.length + 1, fault: "missing", entries };
  }
  // The last entry is genuine and in its place, and the record knows another one there.
  if (before !== opened.chain.head) {
    const entry = entries.length;
    return { status: "broken", entry, fault: "unchained", entries: entries.slice(0, -1) };
  }
  return { status: "whole", entries };
}

function shownEntry(number: number, fact: AuditFact): AuditEntry {
  const { kind, at, by, attemptId, vote, outcome, note, link } = fact;
  const why = vote?.note ?? note;
  return {
    number,
    kind,
    at,
    by,
    attemptId,
    ...(vote === undefined ? {} : { approved: vote.approved }),
    ...(why === undefined ? {} : { note: why }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(link === undefined ? {} : { link }),
  };
}
