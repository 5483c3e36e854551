import assert from "node:assert/strict";
import { createSealer, isSealError } from "@holdpoint/seal";
import { model } from "@holdpoint/seal/zod";
import * as z from "zod";

class Money {
  constructor(cents: number, currency: string) {
    this.cents = cents;
    this.currency = currency;
  }
  cents: number;
  currency: string;
  toString() {
    return `${this.cents / 100} ${this.currency}`;
  }
}
const money = model(Money, {
  name: "money", // what stands in the text: no bundler renames it
  fields: z.object({ cents: z.int(), currency: z.string() }),
});
const Order = z.object({ id: z.string(), total: money.schema });

const sealer = createSealer({ models: [money] });
const text = sealer.encode({ id: "A-17", total: new Money(4200, "EUR") });
assert.equal(text, '{"id":"A-17","total":{"$model":["money",{"cents":4200,"currency":"EUR"}]}}');

const order = Order.parse(sealer.decode(text, { schema: Order }));
assert.equal(String(order.total), "42 EUR");

// a class that the schema doesn't reach is never built
assert.throws(
  () => sealer.decode(text, { schema: z.object({ id: z.string(), total: z.any() }) }),
  (error) => isSealError(error, "class-not-allowed"),
);
