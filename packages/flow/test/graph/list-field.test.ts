import { describe, expect, it } from "vitest";
import { z } from "zod";

import { isKnownList } from "../../src/graph/list-field.ts";
import { stateReader } from "../../src/graph/state.ts";

/** A schema of an element that counts how often one is read. */
function counted() {
  const read: string[] = [];
  const element = z.object({ id: z.string(), tags: z.array(z.string()) }).refine(({ id }) => {
    read.push(id);
    return id !== "wrong";
  });
  return { element, take: () => read.splice(0) };
}

const of = (id: string) => ({ id, tags: ["a"] });

describe("a field that is a list", () => {
  it("FLOW-03 is read element by element, each once", () => {
    const { element, take } = counted();
    const reader = stateReader(z.object({ list: z.array(element).max(4) }));
    const first = reader.field("list", [of("1"), of("2")], "n") as object[];
    expect(take()).toEqual(["1", "2"]);
    const second = reader.field("list", [...first, of("3")], "n", first) as object[];
    expect(take()).toEqual(["3"]);
    expect(second[0]).toBe(first[0]);
    expect(second).toEqual([of("1"), of("2"), of("3")]);
    // Known wherever they go.
    const turned = [...second.toReversed(), of("4")];
    expect(reader.field("list", turned, "n", second)).toEqual(turned);
    expect(take()).toEqual(["4"]);
    expect(reader.field("list", second, "n")).toEqual(second); // of another state
    expect(take()).toEqual(["1", "2", "3"]);
    expect(Object.isFrozen(second)).toBe(true);
    expect(() => reader.field("list", [...second, ...second], "n", second)).toThrow(/too big/iu);
  });

  it("FLOW-03 says what does not fit, and where, as a whole list does", () => {
    const { element } = counted();
    const reader = stateReader(z.object({ list: z.array(element) }));
    const first = reader.field("list", [of("1")], "n") as object[];
    expect(() => reader.field("list", [...first, { id: 2 }], "n", first)).toThrow(
      /: 1\.id: .*1\.tags: /u,
    );
    expect(() => reader.field("list", [...first, of("wrong")], "n", first)).toThrow(/: 1: /u);
    expect(() => reader.field("list", { 0: first[0] }, "n", first)).toThrow(/expected array/u);
  });

  it("FLOW-03 is read anew where somebody could have changed it", () => {
    const own = { deep: { n: 1 } };
    const reader = stateReader(z.object({ list: z.array(z.object({ any: z.any() })) }));
    const first = reader.field("list", [{ any: own }], "n") as readonly unknown[];
    expect(isKnownList(first)).toBe(false);
    expect(reader.field("list", first, "n", first)).not.toBe(first);
    // Frozen by its owner, who may know another way in.
    const dates = stateReader(z.object({ list: z.array(z.object({ at: z.date() })) }));
    const dated = dates.field("list", [Object.freeze({ at: new Date(0) })], "n") as object[];
    expect(isKnownList(dated)).toBe(false);
    expect(dates.field("list", [...dated], "n", dated)).not.toBe(dated);
    const leaves = stateReader(z.object({ list: z.array(z.number().max(5)).optional() }));
    const numbers = leaves.field("list", [1, -0], "n");
    expect(isKnownList(numbers)).toBe(true);
    expect(leaves.field("list", [1, 0], "n", numbers)).toEqual([1, 0]);
    expect(() => leaves.field("list", [1, -0, 6], "n", numbers)).toThrow(/: 2: /u);
  });

  it("FLOW-03 is read by each schema that it comes to", () => {
    const [strict, lax] = [counted(), counted()];
    const from = stateReader(z.object({ list: z.array(lax.element) }));
    const to = stateReader(z.object({ list: z.array(strict.element) }));
    const list = from.field("list", [of("1")], "n") as object[];
    expect(to.field("list", list, "n", list)).toEqual(list);
    expect(strict.take()).toEqual(["1"]);
  });

  it("FLOW-03 is read whole where its schema looks at more than one element", () => {
    const seen: number[] = [];
    const ascending = z.array(z.number()).refine((list) => {
      seen.push(list.length);
      return list.every((n, at) => at === 0 || n > list[at - 1]!);
    });
    const reader = stateReader(z.object({ list: ascending, any: z.array(z.number()).nullable() }));
    const first = reader.field("list", [1, 2], "n");
    expect(() => reader.field("list", [1, 2, 2], "n", first)).toThrow(/does not fit/u);
    expect(seen).toEqual([2, 3]);
    expect(reader.field("any", null, "n", null)).toBe(null);
  });
});
