import { describe, expect, it } from "vitest";

import { type DispatchFacts, dispatchRefusal, gateOf, meetsRule } from "../src/index.ts";
import { dana, decision } from "./support/ports.ts";

const base: DispatchFacts = {
  decision: decision(),
  asked: {},
  gate: { kind: "gated", rule: {} },
  requestedBy: { id: "sam", assurance: "verified" },
  approved: "digest",
  running: "digest",
  used: false,
  now: 1_000_500,
};
const someone = { id: "max", assurance: "verified" } as const;
const gated = (rule: object): Partial<DispatchFacts> => ({ gate: { kind: "gated", rule } });
const edit = decision({ edited: { arguments: 1 } });

const passes: readonly [string, Partial<DispatchFacts>][] = [
  ["all is as it was", {}],
  ["it was used in time, and its call is entered again", { used: true, asked: { useWithinMs: 1 } }],
  [
    "it was used by its rule, and its call is entered again",
    { used: true, ...gated({ quorum: 5 }) },
  ],
  ["the rule asks for nobody any more", { gate: { kind: "free" } }],
  [
    "the time to use it is not over",
    { asked: { useWithinMs: 501 }, ...gated({ useWithinMs: 501 }) },
  ],
  [
    "the rule is the same, whoever the port let decide",
    { asked: { approvers: ["max"] }, ...gated({ approvers: ["max"] }) },
  ],
  [
    "only words changed",
    { asked: { title: "a" }, ...gated({ title: "b", reason: "c", expiresInMs: 1 }) },
  ],
  ["the rule names the one who decided", gated({ approvers: ["dana"] })],
  ["the rule names a role of the one who decided", gated({ approvers: ["role:finance"] })],
  ["the quorum was as large", { asked: { quorum: 3 }, ...gated({ quorum: 2 }) }],
  ["an edit by one who may", { decision: edit, ...gated({ approvers: ["dana"] }) }],
  ["the requester is excluded, and did not decide", gated({ excludeRequester: true })],
];

const refusals: readonly [string, string, string, Partial<DispatchFacts>][] = [
  [
    "rule-forbids",
    "cancelled",
    "the rule forbids what had started",
    { used: true, gate: { kind: "forbidden", reason: "r" } },
  ],
  [
    "arguments-changed",
    "superseded",
    "others would run than had started",
    { used: true, running: "other" },
  ],
  ["arguments-changed", "superseded", "other arguments would run", { running: "other" }],
  ["approval-stale", "expired", "the very instant of its end", { asked: { useWithinMs: 500 } }],
  ["approval-stale", "expired", "the rule's own time, as it is now", gated({ useWithinMs: 400 })],
  [
    "approval-stale",
    "expired",
    "the shorter of two times",
    { asked: { useWithinMs: 9000 }, ...gated({ useWithinMs: 1 }) },
  ],
  [
    "rule-forbids",
    "cancelled",
    "the rule forbids it",
    { gate: { kind: "forbidden", reason: "r" } },
  ],
  [
    "approval-insufficient",
    "superseded",
    "the rule names others by now",
    gated({ approvers: ["max", "role:boss"] }),
  ],
  ["approval-insufficient", "superseded", "the rule asks for more people", gated({ quorum: 2 })],
  [
    "approval-insufficient",
    "superseded",
    "an earlier quorum is smaller",
    { asked: { quorum: 2 }, ...gated({ quorum: 3 }) },
  ],
  [
    "approval-insufficient",
    "superseded",
    "the requester decided",
    { requestedBy: dana, ...gated({ excludeRequester: true }) },
  ],
  [
    "approval-insufficient",
    "superseded",
    "nobody knows who asked",
    { requestedBy: undefined, ...gated({ excludeRequester: true }) },
  ],
  [
    "approval-insufficient",
    "superseded",
    "nobody vouched for who decided",
    {
      decision: decision({ by: { id: "dana", assurance: "none" } }),
      ...gated({ approvers: ["dana"] }),
    },
  ],
  [
    "approval-insufficient",
    "superseded",
    "an edit that its maker may not let go, though the rule is the same",
    {
      decision: decision({ by: someone, edited: { arguments: 1 } }),
      asked: { approvers: ["dana"] },
      ...gated({ approvers: ["dana"] }),
    },
  ],
  [
    "approval-insufficient",
    "superseded",
    "an edit for which earlier votes don't count",
    { decision: edit, asked: { quorum: 2 }, ...gated({ quorum: 2 }) },
  ],
  [
    "approval-insufficient",
    "superseded",
    "a decision whose rule nobody knows, by somebody who may not",
    { decision: decision({ by: someone }), asked: undefined, ...gated({ approvers: ["dana"] }) },
  ],
];

describe("the dispatch check", () => {
  it.each(passes)("TOOL-12 lets pass: %s", (_, change) => {
    expect(dispatchRefusal({ ...base, ...change })).toBeUndefined();
  });

  it.each(refusals)(
    "CASE-064 TOOL-12 refuses with %s, and withdraws as %s: %s",
    (code, reason, _, change) => {
      expect(dispatchRefusal({ ...base, ...change })).toMatchObject({
        code,
        reason,
        why: expect.stringMatching(/./),
      });
    },
  );

  it("TOOL-12 has one order of reasons", () => {
    const everything: DispatchFacts = {
      ...base,
      running: "other",
      asked: { useWithinMs: 1 },
      gate: { kind: "forbidden", reason: "r" },
    };
    expect(dispatchRefusal(everything)?.code).toBe("arguments-changed");
    const unchanged = { ...everything, running: "digest" };
    expect(dispatchRefusal(unchanged)?.code).toBe("rule-forbids");
    const stale = { ...unchanged, ...gated({ quorum: 9 }) };
    expect(dispatchRefusal(stale)?.code).toBe("approval-stale");
    expect(dispatchRefusal({ ...stale, asked: {} })?.code).toBe("approval-insufficient");
  });

  it("TOOL-12 takes an unknown earlier rule for one whose quorum was met", () => {
    expect(dispatchRefusal({ ...base, asked: undefined, ...gated({ quorum: 9 }) })).toBeUndefined();
  });
});

describe("a tool's rule", () => {
  const context = {} as never;
  it.each([
    [false, { kind: "free" }],
    [true, { kind: "gated", rule: {} }],
    [{ quorum: 2 }, { kind: "gated", rule: { quorum: 2 } }],
    [{ forbid: "why" }, { kind: "forbidden", reason: "why" }],
  ] as const)("TOOL-02 answers %j", (answer, gate) => {
    expect(gateOf(answer as boolean, 1, context)).toEqual(gate);
    expect(gateOf(() => answer, 1, context)).toEqual(gate);
  });

  it("TOOL-02 is no consent where it answers nothing, a promise, or something else", () => {
    for (const answer of [undefined, null, 0, "", "yes", Promise.resolve(false)]) {
      expect(() => gateOf(() => answer as never, 1, context)).toThrow(/confirm answers/);
    }
  });

  it("APR-16 is met by who may decide, with as many behind them as it asks for", () => {
    const asked = { requestedBy: undefined, quorum: 2 };
    expect(meetsRule({ quorum: 2 }, decision(), asked)).toBe(true);
    expect(meetsRule({ quorum: 3 }, decision(), asked)).toBe(false);
    expect(meetsRule({}, decision(), { ...asked, quorum: 1 })).toBe(true);
    expect(meetsRule({}, decision(), { ...asked, quorum: 0 })).toBe(false);
  });
});
