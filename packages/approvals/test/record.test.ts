// Every transition of a record, as a table: what each event makes of each state, and what it leaves alone.
import { describe, expect, it } from "vitest";

import type { Outcome, WithdrawReason } from "../src/decision.ts";
import {
  concluded,
  consumed,
  endsApproved,
  filed,
  isExpired,
  missingVotes,
  voted,
  votedLate,
  withdrawn,
  type ApprovalRecord,
  type DecidedRecord,
  type PendingRecord,
  type Vote,
} from "../src/record.ts";
import type { ApprovalRule } from "../src/rule.ts";

function pending(rule: ApprovalRule = {}, expiresAt?: number): PendingRecord {
  const facts = {
    kind: "tool",
    tool: "issue_refund",
    scope: "acme",
    runId: "run-1",
    node: "pay#1",
    callId: "call-1",
    argumentKey: "key",
    requestedBy: { id: "rita", assurance: "verified" },
    rule,
  } as const;
  const what = {
    id: "apr-1",
    facts,
    context: "null",
    requestedAt: 100,
    expiresAt,
    requestKey: "request-key",
    proposed: { text: "{}", digest: "d" },
    calledDigest: "d",
    replaces: undefined,
  };
  return filed(what, "filing").record;
}

function vote(approved: boolean, id = "dana", at = 200): Vote {
  return {
    approved,
    by: { id, assurance: "verified" },
    at,
    note: undefined,
    edited: undefined,
    forRun: false,
    attemptId: `attempt-of-${id}-${at}`,
  };
}

function decided(approved: boolean): DecidedRecord {
  const outcome = voted(pending(), vote(approved));
  if (outcome.status !== "decided") throw new Error(outcome.status);
  return outcome.record;
}

const kinds = (moved: { readonly facts: readonly { readonly kind: string }[] }) =>
  moved.facts.map((fact) => fact.kind);

const reasons: readonly WithdrawReason[] = [
  "expired",
  "superseded",
  "cancelled",
  "state-not-sealable",
];

describe("from pending", () => {
  it("APR-20 files a record as pending, with one audit fact in the requester's name", () => {
    const moved = filed({ ...pending(), replaces: "apr-0" }, "filing");
    expect(moved.record).toMatchObject({ state: "pending", votes: [], lateVotes: [] });
    expect(moved.facts).toMatchObject([
      { kind: "requested", at: 100, by: { id: "rita" }, attemptId: "filing", link: "apr-0" },
    ]);
    const facts = { ...pending().facts, requestedBy: undefined };
    expect(filed({ ...pending(), facts }, "filing").facts[0]?.by.id).toBe("system");
  });

  it.each([true, false])("APR-20 moves to decided by one vote (approved: %s)", (approved) => {
    const outcome = voted(pending(), vote(approved));
    expect(outcome).toMatchObject({
      status: "decided",
      record: { state: "decided", decision: { approved, by: { id: "dana" }, reason: undefined } },
      facts: [{ kind: "decided", by: { id: "dana" }, vote: { approved } }],
    });
  });

  it("APR-14 stays pending while the quorum is open, and is decided by the vote that fills it", () => {
    const first = voted(pending({ quorum: 3 }), vote(true, "a"));
    expect(first).toMatchObject({ status: "open", missing: 2, facts: [{ kind: "voted" }] });
    if (first.status !== "open") throw new Error(first.status);
    expect(missingVotes(first.record)).toBe(2);
    expect(voted(first.record, vote(true, "a", 300))).toEqual({ status: "counted", missing: 2 });
    const second = voted(first.record, vote(true, "b"));
    if (second.status !== "open") throw new Error(second.status);
    const third = voted(second.record, vote(true, "c"));
    expect(third).toMatchObject({
      status: "decided",
      record: { decision: { by: { id: "c" } }, votes: [{ by: { id: "a" } }, {}, {}] },
      facts: [{ kind: "decided" }],
    });
  });

  it("APR-14 is denied by one denial, also of somebody who approved before", () => {
    const first = voted(pending({ quorum: 2 }), vote(true, "a"));
    if (first.status !== "open") throw new Error(first.status);
    expect(voted(first.record, vote(false, "b"))).toMatchObject({
      status: "decided",
      record: { decision: { approved: false } },
    });
    expect(voted(first.record, vote(false, "a", 300))).toMatchObject({
      status: "decided",
      record: { decision: { approved: false }, votes: [{ approved: true }, { approved: false }] },
    });
  });

  it("APR-13 takes no vote at the instant of its expiry, and one the millisecond before", () => {
    const record = pending({}, 1_000);
    expect(voted(record, vote(true, "dana", 999)).status).toBe("decided");
    expect(voted(record, vote(true, "dana", 1_000)).status).toBe("expired");
    expect(voted(record, vote(false, "dana", 1_001)).status).toBe("expired");
    expect([999, 1_000].map((at) => isExpired(record, at))).toEqual([false, true]);
    expect(isExpired(pending(), Number.MAX_SAFE_INTEGER)).toBe(false);
  });

  it.each(reasons)("APR-21 is withdrawn as denied and consumed in one move (%s)", (reason) => {
    const moved = withdrawn(pending({}, 150), { reason, attemptId: "end", at: 200, note: "why" });
    expect(moved.record).toMatchObject({
      state: "consumed",
      attemptId: "end",
      consumedAt: 200,
      outcome: reason,
      endNote: "why",
      decision: { approved: false, by: { id: "system" }, reason },
    });
    expect(moved.record.decision.at).toBe(reason === "expired" ? 150 : 200);
    expect(moved.facts).toMatchObject([{ kind: "withdrawn", outcome: reason, note: "why" }]);
  });

  it("APR-21 is withdrawn as expired at its own time even where it has none", () => {
    const moved = withdrawn(pending(), { reason: "expired", attemptId: "end", at: 200 });
    expect(moved.record.decision.at).toBe(200);
  });
});

describe("from decided", () => {
  it("APR-20 is never expired, whatever the time", () => {
    expect(isExpired({ ...decided(true), expiresAt: 1 }, 1_000)).toBe(false);
    expect(missingVotes(decided(true))).toBe(0);
  });

  it("APR-20 APR-21 is consumed under an attempt: approved without an outcome yet, denied with one", () => {
    const approved = consumed(decided(true), "spend", 300);
    expect(approved.record).toMatchObject({
      state: "consumed",
      attemptId: "spend",
      consumedAt: 300,
      outcome: undefined,
      decision: { approved: true },
    });
    expect(kinds(approved)).toEqual(["consumed"]);
    expect(consumed(decided(false), "spend", 300).record.outcome).toBe("denied");
    expect(consumed(decided(false), "spend", 300, "executed").record.outcome).toBe("denied");
    expect(consumed(decided(true), "spend", 300, "passed").record.outcome).toBe("passed");
  });

  it.each(reasons)("APR-20 keeps its decision when it is withdrawn (%s)", (reason) => {
    const how = { reason, attemptId: "end", at: 400 };
    const approved = withdrawn(decided(true), how);
    expect(approved.record).toMatchObject({ outcome: "unused", decision: { approved: true } });
    const denied = withdrawn(decided(false), how);
    expect(denied.record).toMatchObject({ outcome: "denied", decision: { approved: false } });
  });

  it("APR-14 keeps a late vote and changes nothing else", () => {
    const before: ApprovalRecord = decided(true);
    const moved = votedLate(before, vote(false, "late"));
    expect(moved.record).toEqual({ ...before, lateVotes: [vote(false, "late")] });
    expect(moved.facts).toMatchObject([{ kind: "late", by: { id: "late" } }]);
  });
});

describe("from consumed", () => {
  it("APR-21 gets the outcome of its call, and nothing else changes", () => {
    const { record } = consumed(decided(true), "spend", 300);
    const moved = concluded(record, {
      outcome: "failed",
      attemptId: "spend",
      at: 500,
      note: "timed-out",
    });
    expect(moved.record).toEqual({ ...record, outcome: "failed", endNote: "timed-out" });
    expect(moved.facts).toMatchObject([{ kind: "concluded", outcome: "failed", at: 500 }]);
  });

  it("APR-21 knows which outcomes an approved one can have", () => {
    const all: readonly Outcome[] = [
      "executed",
      "failed",
      "passed",
      "unused",
      "denied",
      ...reasons,
    ];
    expect(all.filter(endsApproved)).toEqual(["executed", "failed", "passed", "unused"]);
  });
});
