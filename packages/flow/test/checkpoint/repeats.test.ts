import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { madeWhole, Repeats } from "../../src/checkpoint/repeats.ts";

/** What is kept of some texts, entry by entry, and what is made of it again. */
function through(texts: readonly string[]) {
  const repeats = new Repeats();
  const kept = texts.map((text, at) => repeats.cut(at + 1, text));
  const whole = new Map<number, string>();
  const made = kept.map((text, at) => {
    const again = madeWhole(text, (revision) => whole.get(revision));
    if (again !== undefined) whole.set(at + 1, again);
    return again;
  });
  return { kept, made };
}

const chars = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + text.length, 0);

/** Texts made of a few long parts in any order, so that they repeat each other at odd places. */
const piece = fc.string({ unit: "binary", minLength: 1, maxLength: 400 });
const texts = fc
  .array(piece, { minLength: 2, maxLength: 6 })
  .chain((parts) =>
    fc.array(fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 12 }), {
      minLength: 1,
      maxLength: 8,
    }),
  )
  .map((lists) => lists.map((list) => `{${list.join("")}`));

const halfCharacter = /\p{Surrogate}/u;

describe("a log's texts", () => {
  it("FLOW-73 come back as they were, whatever they repeat of each other", () => {
    fc.assert(
      fc.property(texts, (all) => {
        expect(through(all).made).toEqual(all);
      }),
      { numRuns: 300 },
    );
  });

  it("FLOW-73 are kept without a character cut in two", () => {
    const [first, second] = ["\u{1F469}", "\u{1F468}"]; // the same first half
    const part = first.repeat(100);
    const all = [`{${part.repeat(8)}`, `{${second}${part.repeat(8)}${second}${part}`];
    const { kept, made } = through(all);
    expect(made).toEqual(all);
    expect(kept[1]).toMatch(/^~/);
    for (const text of kept) expect(text).not.toMatch(halfCharacter);
  });

  it("FLOW-73 that repeat earlier ones are kept as what is new in them", () => {
    const line = (n: number): string => `{"n":${n},"text":"${`${n} `.repeat(200)}"}`;
    const growing = Array.from({ length: 60 }, (_, n) =>
      JSON.stringify(Array.from({ length: n + 1 }, (_, at) => line(at))),
    );
    const { kept, made } = through(growing);
    expect(made).toEqual(growing);
    expect(chars(growing)).toBeGreaterThan(20 * chars(growing.slice(-1)));
    expect(chars(kept)).toBeLessThan(1.3 * chars(growing.slice(-1)));
  });

  it("FLOW-73 never name an entry whose commit did not stand", () => {
    const repeats = new Repeats();
    const text = `{${"a long text that is worth it ".repeat(100)}`;
    const mark = repeats.mark();
    expect(repeats.cut(1, text)).toBe(text);
    repeats.takeBack(mark);
    expect(repeats.cut(1, text)).toBe(text);
    expect(repeats.cut(2, text).length).toBeLessThan(100);
  });

  it("FLOW-73 never name an entry that was forgotten since", () => {
    const repeats = new Repeats();
    const text = `{${"a long text that is worth it ".repeat(100)}`;
    repeats.cut(1, text);
    const mark = repeats.mark();
    repeats.clear();
    expect(repeats.cut(2, text)).toBe(text);
    repeats.takeBack(mark);
    expect(repeats.cut(2, text)).toBe(text);
  });

  it("FLOW-73 are kept the same where the platform has no buffers", async () => {
    const line = (n: number): string => `${n}: ${"пример текста, \u{1F469} ".repeat(20)}${n % 7}\n`;
    const growing = Array.from({ length: 30 }, (_, n) =>
      Array.from({ length: n + 9 }, (__, at) => line(at)).join(""),
    );
    const all = [...growing, `{${growing[29]!.repeat(10)}`, `[${growing[29]!.repeat(10)}`];
    const { kept } = through(all);
    expect(kept.slice(1).every((text) => text.startsWith("~"))).toBe(true);
    onTestFinished(() => void vi.unstubAllGlobals());
    vi.stubGlobal("Buffer", undefined);
    vi.resetModules();
    const elsewhere = await import("../../src/checkpoint/repeats.ts");
    const repeats = new elsewhere.Repeats();
    expect(all.map((text, at) => repeats.cut(at + 1, text))).toEqual(kept);
  });

  const source = "x".repeat(2_000);
  it.each([
    ["an entry that is not there", "~200 9.0.200.0\n"],
    ["a part past an entry's end", "~200 1.1900.200.0\n"],
    ["a length that it does not come to", "~201 1.0.200.0\n"],
    ["a length shorter than it comes to", "~100 1.0.200.0\n"],
    ["places out of order", "~402 1.0.200.2 1.0.200.1\nab"],
    ["a place past its own text", "~202 1.0.200.5\nab"],
    ["no places", "~10 \n0123456789"],
    ["no line", "~200 1.0.200.0"],
    ["a length past all bounds", `~999999999 1.0.200.0\n`],
    ["another form", "~200 1.0.-200.0\n"],
  ])("FLOW-73 that name %s are not made", (_, kept) => {
    expect(madeWhole(kept, (revision) => (revision === 1 ? source : undefined))).toBeUndefined();
  });
});
