import { describe, expect, it } from "vitest";

import { dueOf, follow, pendingRun, type RunFacts } from "../../src/registry/record.ts";

const facts: RunFacts = {
  id: "run-1",
  scope: "acme",
  session: "desk",
  definition: "refund",
  version: "1",
  parent: undefined,
  startedBy: undefined,
  startKey: undefined,
  inputDigest: "digest",
  input: "{}",
  createdAt: 1_000,
};
const running = { ...pendingRun(facts), standing: { status: "running" } } as const;
const error = {
  name: "ToolError",
  code: "failed",
  message: "the bank is closed",
  attributes: {},
  retryable: true,
};
const failed = { type: "failed", error, node: "a#1", at: 5_000 } as const;
const policy = { attempts: 2, backoffMs: 700 };

describe("a run that fails under a policy", () => {
  it("WF-29 is due for its owner when its policy says, and runs until then", () => {
    const seen = follow(running, failed, policy);
    expect(seen.standing).toEqual({
      status: "running",
      retry: { at: 5_700, failure: { code: "failed", message: "the bank is closed" } },
    });
    expect(dueOf(seen)).toBe(5_700);
    const retried = { type: "run-retried", by: undefined, again: [], at: 5_700 } as const;
    const stand = { path: "", state: {}, visits: [], held: [], endReached: false, visited: {} };
    const again = follow(seen, { ...retried, stand: { ...stand, frames: new Map() } }, policy);
    expect([again.standing, again.retries, dueOf(again)]).toEqual([
      { status: "running" },
      1,
      undefined,
    ]);
    expect(follow(again, failed, policy).standing.status).toBe("failed"); // its attempts are used up
  });

  it("WF-29 WF-26 has failed where somebody wishes its end", () => {
    const cancel = { reason: "enough", by: undefined, at: 4_000 };
    expect(follow({ ...running, cancel }, failed, policy).standing.status).toBe("failed");
    expect(follow(running, failed).standing.status).toBe("failed");
  });
});
