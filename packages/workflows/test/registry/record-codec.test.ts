import type { Row } from "@holdpoint/approvals";
import { keyringOf } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";

import { RunCodec } from "../../src/registry/record-codec.ts";
import { follow, pendingRun, type RunFacts, type RunRecord } from "../../src/registry/record.ts";
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
