import { decode, encode, PURPOSES, sign, verify, type Keyring } from "@holdpoint/seal";

import { ApprovalError } from "./errors.ts";

/** What a cursor is good for: nothing else takes it (APR-23). */
export interface CursorUse {
  readonly scope: string;
  /** `list` with the digest of filter and order, or `changes`. */
  readonly of: string;
}

/** A place as a text that only its own query takes back. */
export function sealCursor(keyring: Keyring, { scope, of }: CursorUse, place: unknown): string {
  return sign(encode(place), { keyring, purpose: PURPOSES.cursor, header: { scope, of } }).text;
}

/** @throws ApprovalError `cursor-invalid` for a text that is none, was changed, or is of another query or scope */
export function openCursor(keyring: Keyring, { scope, of }: CursorUse, text: string): unknown {
  const opened = verified(keyring, text);
  if (opened?.header["scope"] === scope && opened.header["of"] === of) return decode(opened.body);
  throw new ApprovalError("cursor-invalid", "the cursor is not one of this query; begin anew");
}

function verified(keyring: Keyring, text: string): ReturnType<typeof verify> | undefined {
  try {
    return verify(text, { keyring, purpose: PURPOSES.cursor });
  } catch {
    return undefined; // whatever is wrong with it, it is no cursor of ours
  }
}
