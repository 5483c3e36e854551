import { digestText, encode } from "@holdpoint/seal";

/** What names a call: the same at every re-run, crash and adoption (FLOW-38). */
export interface CallIdentity {
  readonly runId: string;
  /** The visit's path; empty outside a flow. */
  readonly node: string;
  readonly tool: string;
  /** The journal key of the input as the caller passed it, edits never (`InputSnapshot.key`). */
  readonly key: string;
  /** Among equal calls of the visit, in the order in which they were made; from 0. */
  readonly number: number;
}

/**
 * The id of a call. A `generation` above 0 asks again for what an earlier one was asked for
 * (FLOW-38).
 */
export function callIdOf(call: CallIdentity, generation = 0): string {
  return digestOf(["call", call.runId, call.node, call.tool, call.key, call.number, generation]);
}

/**
 * The idempotency key of a call (TOOL-08): of the requested input, so that an edit, a retry, a
 * resume or another generation of the question sends the same one.
 */
export function idempotencyKeyOf(call: CallIdentity): string {
  return digestOf(["effect", call.runId, call.node, call.tool, call.key, call.number]);
}

/** A list of texts and numbers has nothing to sort: its text is its canonical form. */
function digestOf(parts: readonly (string | number)[]): string {
  return digestText(encode(parts));
}
