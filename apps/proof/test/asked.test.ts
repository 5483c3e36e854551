import { describe, expect, it } from "vitest";

import { readAsked } from "../src/asked.ts";

describe("what a command line asks of a proof", () => {
  it("is how often, whether short, and what its options say", () => {
    const asked = readAsked(["20", "--quick", "--seeds", "7", "--report", "a.md"]);
    if ("refused" in asked) throw new Error(asked.refused);
    expect(asked).toMatchObject({ times: 20, quick: true });
    expect([asked.number("seeds"), asked.number("seed")]).toEqual([7, undefined]);
    expect(asked.text("report")).toBe("a.md");
    expect(readAsked([])).toMatchObject({ quick: false });
  });

  it.each([
    ["--help"],
    ["--seeds"],
    ["--seeds", "many"],
    ["--seeds", "1.5"],
    ["--seed", "-1"],
    ["--threds", "2"],
    ["twenty"],
    ["20", "30"],
  ])("is refused with what no proof has, and says what there is: %s %s", (...args) => {
    const asked = readAsked(args.filter((arg) => typeof arg === "string"));
    expect(asked).toEqual({
      refused: expect.stringContaining("pnpm proof NAME [TIMES] [--quick]"),
    });
  });
});
