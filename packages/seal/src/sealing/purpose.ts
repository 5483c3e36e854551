import { pattern, testPattern } from "../platform.ts";
import { SealError } from "../errors.ts";

/** What a seal is for. A seal of one purpose never opens as another (SEAL-29). */
export type Purpose = string;

/** Purposes that the layers of this product use; any other of the alphabet is free. */
export const PURPOSES = Object.freeze({
  checkpoint: "checkpoint",
  logEntry: "log-entry",
  approval: "approval",
  decision: "decision",
  runExport: "run-export",
  cursor: "cursor",
  inboxNonce: "inbox-nonce",
});

const PURPOSE = pattern(/^[a-z][a-z0-9.-]{0,63}$/);

/** A program seals for few purposes, many times each: the one that was good last is not looked at again. */
let lastGood: unknown = PURPOSES.checkpoint;

export function checkPurpose(value: unknown): asserts value is Purpose {
  if (value === lastGood) return;
  if (typeof value !== "string" || !testPattern(PURPOSE, value)) {
    throw new SealError("option-invalid", "a purpose is 1 to 64 of a-z 0-9 . -, a letter first");
  }
  lastGood = value;
}
