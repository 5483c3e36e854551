import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

import { Order } from "./orders.ts";
import { askingOf, type Provider } from "./provider.ts";
import { Item } from "./requests.ts";

const request = z.string();

/** The order book: looking up, and taking items for a request. */
export function orderTools(provider: Provider) {
  const lookUpOrder = defineTool({
    name: "look_up_order",
    description: "Looks an order up in the order book.",
    input: z.strictObject({ request, order: z.string() }),
    output: Order,
    idempotent: true,
    execute: ({ request: id, order }, call) => provider.lookUp(askingOf(id, call), order),
  });

  const claimItems = defineTool({
    name: "claim_items",
    description: "Takes items of an order for one request, as far as no other request has them.",
    input: z.strictObject({ request, order: z.string(), items: z.array(Item) }),
    output: z.array(Item),
    idempotent: true,
    execute: async ({ request: id, order, items }, call) => [
      ...(await provider.claim(askingOf(id, call), order, items)),
    ],
  });

  const releaseItems = defineTool({
    name: "release_items",
    description: "Gives back the items that a request has claimed.",
    input: z.strictObject({ request }),
    idempotent: true,
    execute: async ({ request: id }, call) => {
      await provider.release(askingOf(id, call));
      return { released: true };
    },
  });

  return { lookUpOrder, claimItems, releaseItems };
}
