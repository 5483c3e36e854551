import { describe, expect, it } from "vitest";

import { callIdOf, idempotencyKeyOf } from "../src/index.ts";

const call = { runId: "r", node: "n#1", tool: "t", key: "k", number: 0 };
const others = [
  { ...call, runId: "s" },
  { ...call, node: "n#2" },
  { ...call, tool: "u" },
  { ...call, key: "l" },
  { ...call, number: 1 },
];

describe("the names of a call", () => {
  it("TOOL-08 FLOW-38 are the same for the same run, visit, tool, key and number, and differ by each of them", () => {
    for (const name of [callIdOf, idempotencyKeyOf]) {
      expect(name({ ...call })).toBe(name(call));
      expect(new Set([call, ...others].map((each) => name(each))).size).toBe(6);
    }
    expect(callIdOf(call)).not.toBe(idempotencyKeyOf(call));
  });

  it("TOOL-08 FLOW-38 another generation of the question has another call id, and the same idempotency key", () => {
    expect(callIdOf(call)).toBe(callIdOf(call, 0));
    expect(callIdOf(call, 1)).not.toBe(callIdOf(call));
    expect(idempotencyKeyOf.length).toBe(1);
  });
});
