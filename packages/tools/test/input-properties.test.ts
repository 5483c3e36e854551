import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { z } from "zod";

import { defineTool, inputOf } from "../src/index.ts";
import { compileWalk } from "../src/input-walk.ts";
import { pairs, respelled, ruin } from "./support/pairs.ts";

const cases = pairs.chain((pair) => pair.inputs.map((input) => ({ ...pair, input })));
const runs = { numRuns: 2500 };

function keyed(input: z.ZodType): (value: unknown) => string {
  const tool = defineTool({ name: "t", description: "", input, execute: () => 1 });
  return (value) => inputOf(tool, value).key();
}

describe("the key of an input", () => {
  it("FLOW-31 is the same whenever the same input is passed", () => {
    const check = fc.property(cases, ({ decorated, input }) => {
      const key = keyed(decorated);
      expect(key(structuredClone(input))).toBe(key(input));
    });
    fc.assert(check, runs);
  });

  it("FLOW-31 holds nothing that the schema makes: it is the key of the schema that makes nothing", () => {
    const check = fc.property(cases, ({ decorated, bare, input }) => {
      expect(keyed(decorated)(input)).toBe(keyed(bare)(input));
    });
    fc.assert(check, runs);
  });

  it("FLOW-31 takes undefined properties for unset, at every depth, and no order of properties", () => {
    const check = fc.property(cases, ({ decorated, input }) => {
      expect(keyed(decorated)(respelled(input))).toBe(keyed(decorated)(input));
    });
    fc.assert(check, runs);
  });

  it("FLOW-31 tells inputs apart exactly where the schema does", () => {
    const two = pairs.chain(({ bare, inputs }) =>
      fc.tuple(inputs, inputs).map(([one, other]) => ({ bare, one, other })),
    );
    const check = fc.property(two, ({ bare, one, other }) => {
      const key = keyed(bare);
      const same = isEqual(bare.parse(one), bare.parse(other));
      expect(key(one) === key(other)).toBe(same);
    });
    fc.assert(check, runs);
  });

  it("FLOW-31 is of a snapshot that later changes don't reach", () => {
    const check = fc.property(cases, ({ decorated, input }) => {
      const before = keyed(decorated)(input);
      const tool = defineTool({ name: "t", description: "", input: decorated, execute: () => 1 });
      const snapshot = inputOf(tool, input);
      const value = structuredClone(snapshot.value);
      ruin(input);
      expect(snapshot.key()).toBe(before);
      expect(snapshot.value).toEqual(value);
    });
    fc.assert(check, runs);
  });
});

describe("the snapshot of an input", () => {
  it("TOOL-02 validates as the input itself does, right or wrong", () => {
    const anything = fc.oneof(
      pairs.chain(({ bare, inputs }) => inputs.map((input) => ({ bare, input }))),
      fc.tuple(pairs, fc.anything()).map(([{ bare }, input]) => ({ bare, input })),
      fc
        .tuple(pairs, pairs)
        .chain(([{ bare }, { inputs }]) => inputs.map((input) => ({ bare, input }))),
    );
    const check = fc.property(anything, ({ bare, input }) => {
      const snapshot = compileWalk(bare)(input, "snapshot");
      const [one, other] = [bare.safeParse(input), bare.safeParse(snapshot)];
      expect(other.success).toBe(one.success);
      expect(other.data).toEqual(one.data);
    });
    fc.assert(check, { numRuns: 5000 });
  });
});

/** Equal as data: -0 is not 0, and an undefined property is unset. */
function isEqual(one: unknown, other: unknown): boolean {
  const plain = keyed(anySchema);
  return plain(one) === plain(other);
}

const anySchema = {
  "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) },
} as never;
