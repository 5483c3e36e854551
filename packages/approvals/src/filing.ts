/**
 * Finding and filing records for calls that ask (APR-12, APR-17).
 *
 * G1 The row under the request key is the one that makes a call's record single: filing sets it under its expected version in
 *    the commit of the record, so of any number of callers one files and the others find.
 * G2 A record found is opened and has to be of that very key.
 * G3 A consumed record never answers again: the next asking files a new one in its place.
 */

import type { Row, Write } from "./commit.ts";
import { ApprovalError } from "./errors.ts";
import { denialKeyOf, requestKeyOf, type RecordAccess } from "./record-access.ts";
import type { OpenRecord } from "./record-codec.ts";
import {
  expiryOf,
  filed,
  type ApprovalRecord,
  type ConsumedRecord,
  type DecidedRecord,
} from "./record.ts";
import type { ApprovalRequest } from "./request.ts";
import { statements } from "./store.ts";

/** The row that points to a call's record. */
export interface Pointer {
  /** The call's newest record; undefined: there is none. */
  readonly id: string | undefined;
  /** What the next write of the row has to expect. */
  readonly version: number;
  readonly asked: number;
}

/** What is on record for a call, as of one look. */
export interface Found {
  readonly pointer: Pointer;
  readonly opened: OpenRecord | undefined;
  /** The row that says which denial covers this call for the rest of its run. */
  readonly denial: Row | undefined;
  /** The store's time. */
  readonly now: number;
}

const keys = new WeakMap<ApprovalRequest, string>();

/** A request's key; its members never change, and it is looked for more than once. */
function keyOf(request: ApprovalRequest): string {
  const known = keys.get(request);
  if (known !== undefined) return known;
  const key = requestKeyOf(request);
  keys.set(request, key);
  return key;
}

export async function findPointer(
  access: RecordAccess,
  request: ApprovalRequest,
): Promise<Pointer> {
  return pointerOf(await access.store.find(request.scope, keyOf(request)));
}

function pointerOf(row: Row | undefined): Pointer {
  if (row === undefined) return { id: undefined, version: 0, asked: 0 };
  return { id: String(row.values["id"]), version: row.version, asked: Number(row.values["asked"]) };
}

/** @throws ApprovalError `record-tampered`, `store-unavailable` */
export async function findRecord(access: RecordAccess, request: ApprovalRequest): Promise<Found> {
  const keys = [keyOf(request), denialKeyOf(request)];
  const { found, now } = await access.findNow(request.scope, keys);
  const [own, denial] = found;
  const pointer = pointerOf(own);
  const { id } = pointer;
  if (id === undefined) return { pointer, opened: undefined, denial, now };
  const opened = await access.load(request.scope, id);
  if (opened?.record.requestKey !== keyOf(request)) throw pointsAstray(request, id); // G2
  return { pointer, opened, denial, now };
}

/** A denied record whose denial covers the rest of its run. */
export type Denial = DecidedRecord | ConsumedRecord;

/** The earlier denial that covers this call for the rest of its run, where there is one (APR-18). */
export async function findDenial(
  access: RecordAccess,
  request: ApprovalRequest,
  { denial: row }: Found,
): Promise<Denial | undefined> {
  if (row === undefined) return undefined;
  const id = String(row.values["id"]);
  const record = (await access.load(request.scope, id))?.record;
  if (record === undefined || !isDenialForRun(record) || denialKeyOf(record.facts) !== row.key) {
    throw pointsAstray(request, id); // G2
  }
  return record;
}

function isDenialForRun(record: ApprovalRecord): record is Denial {
  return record.state !== "pending" && !record.decision.approved && record.decision.forRun;
}

/** The writes that file a new record for this call. */
export function filingWrites(
  access: RecordAccess,
  request: ApprovalRequest,
  attemptId: string,
  { pointer, now: requestedAt }: Found,
): readonly Write[] {
  const { scope, rule } = request;
  const requestKey = keyOf(request);
  const proposed = access.codec.bind(request.arguments);
  if (proposed.digest !== request.argumentsDigest) {
    throw new ApprovalError("arguments-differ", "the arguments changed since they were asked for", {
      approvalId: request.id,
      runId: request.runId,
    });
  }
  const moved = filed(
    {
      id: request.id,
      facts: factsOf(request),
      context: access.codec.bindContext(request.context),
      requestedAt,
      expiresAt: expiryOf(requestedAt, rule),
      requestKey,
      proposed,
      calledDigest: proposed.digest,
      replaces: undefined,
    },
    attemptId,
  );
  const values = { id: request.id, asked: 1 };
  return [
    { statement: statements.putKey, scope, key: requestKey, expect: pointer.version, values }, // G1
    ...access.codec.writes(undefined, moved, { attemptId }),
  ];
}

/** The write that counts one more asking of a call whose record stands. */
export function askedWrite(
  request: ApprovalRequest,
  { version, asked }: Pointer,
  id: string,
): Write {
  return {
    statement: statements.putKey,
    scope: request.scope,
    key: keyOf(request),
    expect: version,
    values: { id, asked: asked + 1 },
  };
}

function factsOf(request: ApprovalRequest) {
  const { kind, tool, scope, runId, node, callId, argumentKey, requestedBy, rule } = request;
  return { kind, tool, scope, runId, node, callId, argumentKey, requestedBy, rule };
}

function pointsAstray(request: ApprovalRequest, id: string): ApprovalError {
  return new ApprovalError("record-tampered", `the approval ${id} is not of the call that asks`, {
    approvalId: id,
    runId: request.runId,
  });
}
