import { z } from "zod";

import { readLines, type ReadLines } from "./lines.ts";
import { CurrencyCode } from "./money.ts";

/** One thing on an order. The unit price is in minor units of the order's currency. */
const OrderLine = z.strictObject({
  sku: z.string().min(1).max(40),
  name: z.string().min(1).max(200),
  quantity: z.int().positive().max(1000),
  unitMinor: z.int().positive().max(1_000_000_000),
});

export const Order = z.strictObject({
  id: z.string().regex(/^A-\d{4,}$/),
  customer: z.strictObject({ name: z.string().min(1).max(200), email: z.email() }),
  currency: CurrencyCode,
  delivered: z.iso.date(),
  lines: z.array(OrderLine).min(1).max(50),
});
export type Order = z.infer<typeof Order>;

/** Reads the orders; one id is one order. */
export function readOrders(file: string): ReadLines<Order> {
  const seen = new Set<string>();
  return readLines(file, Order, ({ id }) => {
    if (seen.has(id)) return `id: the order ${id} was there before`;
    seen.add(id);
    return undefined;
  });
}
