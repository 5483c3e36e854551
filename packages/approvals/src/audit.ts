/**
 * The audit trail of a record: a chain of sealed entries, one a transition (APR-22).
 *
 * U1 Each entry covers its scope, record, number and the MAC of the one before: none can be moved, dropped or put between.
 * U2 The record holds the number and the MAC of the last entry, so that a trail cut short shows too.
 * U3 Entries are only appended, in the commit of the transition they tell of.
 */

import { decode, encode, sign, verify, type Keyring } from "@holdpoint/seal";

import type { Row, Write } from "./commit.ts";
import type { AuditFact } from "./record.ts";
import { auditKey, statements } from "./store.ts";

/** Where a trail stands: how many entries, and the MAC of the last. */
export interface Chain {
  readonly count: number;
  readonly head: string;
}

export const emptyChain: Chain = { count: 0, head: "" };

/** Which record an entry is about. */
export interface AuditPlace {
  readonly scope: string;
  readonly id: string;
}

const purpose = "approval-audit";

/** The writes that append these facts, and where the trail stands afterwards. */
export function appendFacts(
  chain: Chain,
  facts: readonly AuditFact[],
  { scope, id }: AuditPlace,
  keyring: Keyring,
): { readonly chain: Chain; readonly writes: readonly Write[] } {
  const writes: Write[] = [];
  let { count, head } = chain;
  for (const fact of facts) {
    count += 1;
    const header = { scope, id, number: count, before: head }; // U1
    const { text, mac } = sign(encode(fact), { keyring, purpose, header });
    head = mac;
    writes.push({
      statement: statements.appendAudit,
      scope,
      key: auditKey(id, count),
      expect: 0, // U3
      values: { sealed: text },
    });
  }
  return { chain: { count, head }, writes };
}

/** Why an entry does not fit: gone, changed or of another place, not the successor of the one before. */
export type AuditFault = "missing" | "altered" | "unchained" | "beyond";

/** One entry that opened. */
export interface OpenEntry {
  readonly number: number;
  readonly fact: AuditFact;
  readonly mac: string;
}

/** Opens one entry as the successor of the entry whose MAC is `before`. */
export function openEntry(
  row: Row,
  expected: AuditPlace & { readonly number: number; readonly before: string },
  keyring: Keyring,
): OpenEntry | { readonly fault: AuditFault } {
  const { scope, id, number, before } = expected;
  if (row.key !== auditKey(id, number)) return { fault: "missing" };
  const opened = openText(row, keyring);
  if (opened === undefined) return { fault: "altered" };
  const { header } = opened;
  const placed = header["scope"] === scope && header["id"] === id && header["number"] === number;
  if (!placed) return { fault: "altered" };
  if (header["before"] !== before) return { fault: "unchained" };
  return { number, fact: opened.fact, mac: opened.mac };
}

/** An entry by itself, for a feed of changes: sealed, and of its own scope and key. `undefined` where it is not. */
export function openChange(
  scope: string,
  row: Row,
  keyring: Keyring,
): (OpenEntry & { readonly id: string }) | undefined {
  const opened = openText(row, keyring);
  if (opened === undefined) return undefined;
  const { scope: sealedScope, id, number } = opened.header;
  if (typeof id !== "string" || typeof number !== "number") return undefined;
  if (sealedScope !== scope || row.key !== auditKey(id, number)) return undefined;
  return { id, number, fact: opened.fact, mac: opened.mac };
}

function openText(row: Row, keyring: Keyring) {
  const sealed = row.values["sealed"];
  if (typeof sealed !== "string") return undefined;
  try {
    const { header, body, mac } = verify(sealed, { keyring, purpose });
    return { header, mac, fact: decode(body) as AuditFact }; // sealed by us
  } catch {
    return undefined; // whatever is wrong with it, the entry is not one of ours
  }
}
