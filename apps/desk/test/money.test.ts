import { describe, expect, it } from "vitest";

import { currencies, differing, Money, show, sumOf } from "../src/money.ts";

describe("money", () => {
  it.each([
    [{ currency: "EUR", minor: 5 }, "0.05 EUR"],
    [{ currency: "EUR", minor: 123_456_789 }, "1 234 567.89 EUR"],
    [{ currency: "JPY", minor: 1_234 }, "1 234 JPY"],
    [{ currency: "JPY", minor: 7 }, "7 JPY"],
    [{ currency: "KWD", minor: 1_234_567 }, "1 234.567 KWD"],
    [{ currency: "KWD", minor: 45 }, "0.045 KWD"],
    [{ currency: "USD", minor: Number.MAX_SAFE_INTEGER }, "90 071 992 547 409.91 USD"],
  ] as const)("shows %o as %s, from its digits", (money, text) => {
    expect(show(money)).toBe(text);
  });

  it("is a whole, positive number of minor units in a known currency", () => {
    for (const minor of [0, -1, 12.5, Number.NaN, 2 ** 53, "5"]) {
      expect(Money.safeParse({ currency: "EUR", minor }).success).toBe(false);
    }
    expect(Money.safeParse({ currency: "XXX", minor: 1 }).success).toBe(false);
    expect(Money.safeParse({ currency: "EUR", minor: 1 }).success).toBe(true);
  });

  it("is summed by currency, and a sum that is not exact is refused", () => {
    const sums = sumOf([
      { currency: "EUR", minor: 10 },
      { currency: "JPY", minor: 7 },
      { currency: "EUR", minor: 20 },
    ]);
    expect([...sums]).toEqual([
      ["EUR", 30],
      ["JPY", 7],
    ]);
    const most = { currency: "EUR", minor: Number.MAX_SAFE_INTEGER } as const;
    expect(() => sumOf([most, { currency: "EUR", minor: 1 }])).toThrow("EUR is not exact");
  });

  it("differs by one minor unit, in the currency where it does", () => {
    const one = sumOf([
      { currency: "EUR", minor: 100 },
      { currency: "KWD", minor: 5 },
    ]);
    const other = sumOf([
      { currency: "KWD", minor: 5 },
      { currency: "EUR", minor: 101 },
    ]);
    expect(differing(one, other)).toEqual(["EUR"]);
    expect(differing(one, sumOf([{ currency: "EUR", minor: 100 }]))).toEqual(["KWD"]);
    expect(differing(one, one)).toEqual([]);
  });

  it("asks for a second person only above where it asks for a first", () => {
    for (const { reviewAbove, confirmAbove } of Object.values(currencies)) {
      expect(confirmAbove).toBeGreaterThan(reviewAbove);
    }
  });
});
