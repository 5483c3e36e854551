import { isFlowError, type NodeContext } from "@holdpoint/flow";

import type { Money } from "./money.ts";
import type { Order } from "./orders.ts";
import type { Item, RefundRequest } from "./requests.ts";
import type { DeskTools } from "./tools.ts";

/** Days after delivery in which things may be sent back. */
const returnDays = 30;
const dayMs = 86_400_000;

/** What the desk makes of a request. */
export type Assessment =
  | { readonly verdict: "pay"; readonly amount: Money; readonly recipient: string }
  | { readonly verdict: "refuse"; readonly why: string; readonly recipient: string };

/**
 * Looks the order up, asks a person where the request is late, and claims the items. Each call is journaled: while a person
 * thinks about a late request nothing is running, and when they have answered this function begins again from its top and
 * is given the recorded order instead of a second look-up.
 */
export async function assess(
  { lookUpOrder, claimItems, allowLate }: DeskTools,
  { id, order: orderId, items, received, atMostMinor }: RefundRequest,
  ctx: NodeContext,
): Promise<Assessment> {
  const order = await ctx.call(lookUpOrder, { request: id, order: orderId });
  const recipient = `${order.customer.name} <${order.customer.email}>`;

  const days = Math.round((Date.parse(received) - Date.parse(order.delivered)) / dayMs);
  if (days > returnDays) {
    try {
      await ctx.call(allowLate, { request: id, days });
    } catch (error) {
      if (!isFlowError(error, "approval-denied")) throw error;
      return { verdict: "refuse", why: `it came ${days} days after delivery`, recipient };
    }
  }

  const granted = await ctx.call(claimItems, { request: id, order: orderId, items });
  if (granted.length === 0) {
    return { verdict: "refuse", why: "these items were asked back before", recipient };
  }
  return { verdict: "pay", amount: amountOf(order, granted, atMostMinor), recipient };
}

/** What the granted items cost, and no more than was asked for. */
export function amountOf(order: Order, granted: readonly Item[], atMostMinor?: number): Money {
  let minor = 0;
  for (const { sku, quantity } of granted) {
    const line = order.lines.find((one) => one.sku === sku);
    if (line === undefined) throw new Error(`${order.id} has no ${sku}`);
    minor += line.unitMinor * quantity;
  }
  return { currency: order.currency, minor: Math.min(minor, atMostMinor ?? minor) };
}
