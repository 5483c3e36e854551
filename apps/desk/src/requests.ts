import { z } from "zod";

import { readLines, type ReadLines } from "./lines.ts";
import type { Order } from "./orders.ts";

/** So many pieces of one thing. */
export const Item = z.strictObject({
  sku: z.string().min(1).max(40),
  quantity: z.int().positive().max(1000),
});
export type Item = z.infer<typeof Item>;

/** What a customer sends in. */
export const RefundRequest = z.strictObject({
  id: z.string().regex(/^R-\d{4,}$/),
  order: z.string().regex(/^A-\d{4,}$/),
  customer: z.string().min(1).max(200),
  received: z.iso.date(),
  items: z.array(Item).min(1).max(50),
  /** No more than this, in minor units of the order's currency: a partial refund. */
  atMostMinor: z.int().positive().optional(),
  reason: z.string().min(1).max(500),
});
export type RefundRequest = z.infer<typeof RefundRequest>;

/** Reads the requests: an id once, for an order that exists, for things that are on it. */
export function readRequests(
  file: string,
  orders: ReadonlyMap<string, Order>,
): ReadLines<RefundRequest> {
  const seen = new Set<string>();
  return readLines(file, RefundRequest, ({ id, order, items }) => {
    if (seen.has(id)) return `id: the request ${id} was there before`;
    const known = orders.get(order);
    if (known === undefined) return `order: there is no order ${order}`;
    for (const { sku } of items) {
      if (!known.lines.some((line) => line.sku === sku)) return `items: ${order} has no ${sku}`;
    }
    if (new Set(items.map(({ sku }) => sku)).size < items.length) return "items: one thing twice";
    seen.add(id);
    return undefined;
  });
}
