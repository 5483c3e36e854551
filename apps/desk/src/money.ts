/**
 * Money as whole minor units: cents, yen, fils. Never a float, and never two currencies in one sum.
 */
import { z } from "zod";

/** The currencies the desk pays in, and where it asks a person before it does. All amounts in minor units. */
export const currencies = {
  EUR: { digits: 2, reviewAbove: 500_00, confirmAbove: 1_500_00 },
  USD: { digits: 2, reviewAbove: 550_00, confirmAbove: 1_650_00 },
  GBP: { digits: 2, reviewAbove: 425_00, confirmAbove: 1_275_00 },
  CHF: { digits: 2, reviewAbove: 475_00, confirmAbove: 1_425_00 },
  JPY: { digits: 0, reviewAbove: 80_000, confirmAbove: 250_000 },
  KWD: { digits: 3, reviewAbove: 165_000, confirmAbove: 500_000 },
} as const;

export type Currency = keyof typeof currencies;

export const currencyCodes = Object.keys(currencies) as Currency[];

export const CurrencyCode = z.enum(["EUR", "USD", "GBP", "CHF", "JPY", "KWD"]);

/** An amount to be paid: one minor unit or more. */
export const Money = z.strictObject({ currency: CurrencyCode, minor: z.int().positive() });
export type Money = z.infer<typeof Money>;

/** `1 234.50 EUR`, `1 234 JPY`, `1 234.500 KWD`: from the digits of the whole number, never by a division. */
export function show({ currency, minor }: Money): string {
  const { digits } = currencies[currency];
  const text = String(minor).padStart(digits + 1, "0");
  const whole = text.slice(0, text.length - digits).replace(/\B(?=(\d{3})+$)/g, " ");
  return `${whole}${digits === 0 ? "" : `.${text.slice(-digits)}`} ${currency}`;
}

/** Sums by currency. */
export type Sums = ReadonlyMap<Currency, number>;

/** @throws RangeError where a sum leaves the whole numbers that are exact */
export function sumOf(amounts: Iterable<Money>): Sums {
  const sums = new Map<Currency, number>();
  for (const { currency, minor } of amounts) {
    const sum = (sums.get(currency) ?? 0) + minor;
    if (!Number.isSafeInteger(sum)) throw new RangeError(`the sum in ${currency} is not exact`);
    sums.set(currency, sum);
  }
  return sums;
}

/** The currencies in which two sums differ. */
export function differing(one: Sums, other: Sums): readonly Currency[] {
  return currencyCodes.filter((code) => (one.get(code) ?? 0) !== (other.get(code) ?? 0));
}
