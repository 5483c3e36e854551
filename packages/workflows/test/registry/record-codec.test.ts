import type { Row } from "@holdpoint/approvals";
import { encode, keyringOf, sign } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";

import { knownRecordCharsMax, knownRecordsMax } from "../../src/limits.ts";
import { KnownRecords } from "../../src/registry/known-records.ts";
import { RunCodec } from "../../src/registry/record-codec.ts";
import {
  follow,
  pendingRun,
  type RunFacts,
  type RunRecord,
  type WaitingFor,
} from "../../src/registry/record.ts";
import { keyring } from "../world.ts";

const facts: RunFacts = {
  id: "run-1",
  scope: "acme",
  session: "desk",
  definition: "refund",
  version: "1",
  parent: undefined,
  startedBy: { id: "rita", assurance: "none" },
  startKey: "k",
  inputDigest: "digest",
  input: '{"orderId":"A-17"}',
  createdAt: 1_000,
};
const codec = new RunCodec(keyring);
const pending = pendingRun(facts);
const failed: RunRecord = {
  ...pending,
  standing: { status: "failed", failure: { code: "node-failed", message: "no" } },
  revision: 7,
};

function rowOf(record: RunRecord, expect = 0, by = codec): Row {
  const { key, values } = by.write(record, expect);
  return { key, version: expect + 1, attempt: "a", values };
}

const tampered = expect.objectContaining({ code: "record-tampered", data: { runId: "run-1" } });

describe("a run's record", () => {
  it("WF-11 comes back whole", () => {
    expect(codec.open("acme", rowOf(pending))).toEqual({ record: pending, version: 1 });
    expect(codec.open("acme", rowOf(failed, 4))).toEqual({ record: failed, version: 5 });
  });

  it.each(Object.keys(rowOf(pending).values))("WF-11 refuses a changed column %s", (column) => {
    const row = rowOf(pending);
    for (const value of ["other", 7, null]) {
      if (row.values[column] === value) continue;
      const changed = { ...row, values: { ...row.values, [column]: value } };
      expect(() => codec.open("acme", changed)).toThrow(tampered);
    }
  });

  it("STORE-12 opens only where it was put: scope, run, version and status", () => {
    const row = rowOf(pending);
    expect(() => codec.open("other", row)).toThrow(tampered);
    expect(() => codec.open("acme", { ...row, key: "run-2" })).toThrow(
      expect.objectContaining({ code: "record-tampered" }),
    );
    // An older genuine row, put back over a newer one.
    expect(() => codec.open("acme", { ...row, version: 2 })).toThrow(tampered);
    const spliced = { ...rowOf(failed).values, sealed: row.values["sealed"]! };
    expect(() => codec.open("acme", { ...row, values: spliced })).toThrow(tampered);
  });

  it("WF-11 opens under its own key alone, and says nothing of it", () => {
    const other = new RunCodec(keyringOf(new Uint8Array(32).fill(8)));
    expect(() => other.open("acme", rowOf(pending))).toThrow(tampered);
    const text = rowOf(pending).values["sealed"] as string;
    const flipped = text.replace("A-17", "A-18");
    const row = { ...rowOf(pending), values: { ...rowOf(pending).values, sealed: flipped } };
    expect(flipped).not.toBe(text);
    expect(() => codec.open("acme", row)).toThrow(tampered);
  });
});

describe("a record of before times were kept in rows", () => {
  const header = { scope: "acme", id: "run-1", status: "interrupted", version: 3 };
  const record: RunRecord = { ...pending, standing: { status: "interrupted" }, revision: 4 };
  const sealedAs = (format: number) =>
    sign(encode({ format, record }), { keyring, purpose: "run-record", header }).text;
  const old = (format: number, dueAt: number | null): Row => {
    const { values } = rowOf(record, 2);
    return { ...rowOf(record, 2), values: { ...values, dueAt, sealed: sealedAs(format) } };
  };

  it("WF-11 STORE-01 opens whatever its column says, and says that it is outdated", () => {
    for (const dueAt of [0, null])
      expect(codec.open("acme", old(1, dueAt))).toEqual({ record, version: 3, outdated: true });
    expect(codec.open("acme", old(2, null))).toEqual({ record, version: 3 });
    expect(() => codec.open("acme", old(2, 0))).toThrow(tampered);
    expect(() => codec.open("acme", old(3, null))).toThrow(tampered);
  });

  it("WF-26 WF-28 is due at once for a wish, and when the first of its sleeps ends", () => {
    const sleep = (callId: string, until: number): WaitingFor => {
      const visit = `${callId}#1`;
      return {
        kind: "sleep",
        id: callId,
        approvalId: undefined,
        visit,
        callId,
        tool: "sleep",
        until,
      };
    };
    const waits = [sleep("a", 90), sleep("b", 80)];
    const due = (more: Partial<RunRecord>) => rowOf({ ...record, ...more }).values["dueAt"];
    expect(due({})).toBe(null);
    expect(due({ waits })).toBe(80);
    expect(due({ waits, standing: { status: "running" } })).toBe(null);
    const cancel = { reason: "r", by: undefined, at: 70 };
    expect(due({ waits, cancel })).toBe(0);
    expect(due({ cancel, standing: { status: "pending" } })).toBe(0);
    expect(due({ cancel, standing: { status: "completed" } })).toBe(null);
  });
});

describe("a record that follows its log", () => {
  const at = 2_000;

  it("WF-10 counts every event, moves by those that move, and never back", () => {
    const running = follow(pending, { type: "call-dropped", visit: "a#1", tool: "t", at });
    expect(running).toMatchObject({ standing: { status: "pending" }, revision: 1, updatedAt: at });
    const paused = follow({ ...pending, standing: { status: "running" } }, { type: "paused", at });
    expect(paused.standing).toEqual({ status: "interrupted" });
    const ended = follow(paused, { type: "cancelled", reason: "r", by: undefined, at });
    expect(ended.standing.status).toBe("cancelled");
    const after = follow(ended, { type: "answered", attemptId: "a", answers: [], at });
    expect(after).toMatchObject({ standing: ended.standing, revision: 3 });
  });

  it("WF-11 grows no younger when the clock runs backwards", () => {
    const later = follow(pending, { type: "paused", at: 5_000 });
    expect(follow(later, { type: "paused", at: 10 }).updatedAt).toBe(5_000);
  });

  it("WF-11 keeps bounded texts of failures and reasons", () => {
    const running: RunRecord = { ...pending, standing: { status: "running" } };
    const long = "x".repeat(5_000);
    const error = { name: "E", code: "c", message: long, attributes: {}, retryable: false };
    expect(follow(running, { type: "failed", error, node: "a", at }).standing).toEqual({
      status: "failed",
      failure: { code: "c", message: "x".repeat(1_000) },
    });
    const cancelled = follow(running, { type: "cancelled", reason: long, by: undefined, at });
    expect(cancelled.standing).toMatchObject({ reason: "x".repeat(512) });
  });
});

describe("a text that is known already", () => {
  const changedIn = (row: Row): string => String(row.values["sealed"]).replace("acme", "acmf");

  it("STORE-12 is known by all of its characters, where this process made it or verified it", () => {
    const row = rowOf(failed, 4);
    for (const reader of [codec, new RunCodec(keyring)]) {
      expect(reader.open("acme", row)).toEqual({ record: failed, version: 5 });
      const sealed = changedIn(row);
      const changed = { ...row, values: { ...row.values, sealed } };
      expect(() => reader.open("acme", changed)).toThrow(tampered);
      expect(() => reader.open("acme", { ...row, version: 6 })).toThrow(tampered);
      expect(() => reader.open("other", row)).toThrow(tampered);
    }
  });

  it("STORE-12 is verified by each reader's own keys: what another reader knows is nothing to it", () => {
    const row = rowOf(failed, 4);
    codec.open("acme", row);
    const other = new RunCodec(keyringOf(new Uint8Array(32).fill(9)));
    expect(() => other.open("acme", row)).toThrow(tampered);
  });

  it("WF-32 can be changed by nobody who reads it", () => {
    const waits: WaitingFor[] = [
      { kind: "approval", id: "a", approvalId: "a", visit: "pay#1", callId: "c", tool: "pay" },
    ];
    const waiting: RunRecord = { ...pending, standing: { status: "interrupted" }, waits };
    const row = rowOf(waiting);
    const { record } = codec.open("acme", row);
    expect(() => Object.assign(record.waits[0]!, { id: "b" })).toThrow(TypeError);
    expect(() => Object.assign(record.facts, { session: "b" })).toThrow(TypeError);
    Object.assign(waits[0]!, { id: "b" }); // its writer's own, which was sealed before
    expect(codec.open("acme", row).record.waits[0]?.id).toBe("a");
  });

  it("WF-25 is forgotten once others came, and long ones are not kept", () => {
    const known = new KnownRecords<number>();
    const record = { header: {}, text: "", body: 1 };
    for (let at = 0; at <= knownRecordsMax; at += 1) known.keep(`text ${at}`, record);
    expect([known.of("text 0"), known.of("text 1")]).toEqual([undefined, record]);
    known.keep("one more", record);
    expect([known.of("text 1"), known.of("text 2")]).toEqual([record, undefined]); // it was read since
    known.keep("x".repeat(knownRecordCharsMax + 1), record);
    expect(known.of("x".repeat(knownRecordCharsMax + 1))).toBeUndefined();
  });
});
