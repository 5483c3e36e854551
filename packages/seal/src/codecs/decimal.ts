import { defineCodec, type Codec } from "../models/codec.ts";

/** What this codec needs of a decimal: both `decimal.js` and `big.js` have it. */
export interface DecimalValue {
  toExponential(): string;
}

/** The class of a decimal library, as the caller uses it. */
export interface DecimalClass<T extends DecimalValue> {
  new (text: string): T;
  readonly prototype: T;
}

/**
 * A codec for decimals of `decimal.js` or `big.js`, over the class that is given, so that neither
 * library is imported here. A decimal is kept as its exponential text, which has all its digits
 * and its zero's sign whatever the library is configured to print.
 *
 * @param type Name in texts; a second class needs a second name.
 */
export function decimalCodec<T extends DecimalValue>(
  made: DecimalClass<T>,
  type = "decimal",
): Codec<T, string> {
  return defineCodec({
    type,
    is: (value): value is T =>
      typeof value === "object" &&
      value !== null &&
      Object.getPrototypeOf(value) === made.prototype,
    encode: (value) => value.toExponential(),
    decode(text) {
      if (typeof text !== "string") throw new TypeError("not a decimal's text");
      const value = new made(text);
      if (value.toExponential() !== text) throw new TypeError("not a decimal's own spelling");
      return value;
    },
  });
}
