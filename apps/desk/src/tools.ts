import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

import { currencies, Money } from "./money.ts";
import { Order } from "./orders.ts";
import type { Asking, Provider } from "./provider.ts";
import { Item } from "./requests.ts";

const request = z.string();

/**
 * What the desk can do to the world, each as a tool: named, validated, journaled, and repeatable under its key, so that a
 * crash between the effect and the journal does nothing twice.
 */
export function deskTools(provider: Provider) {
  const lookUpOrder = defineTool({
    name: "look_up_order",
    description: "Looks an order up in the order book.",
    input: z.strictObject({ request, order: z.string() }),
    output: Order,
    idempotent: true,
    execute: ({ request: id, order }, call) => provider.lookUp(asking(id, call), order),
  });

  const claimItems = defineTool({
    name: "claim_items",
    description: "Takes items of an order for one request, as far as no other request has them.",
    input: z.strictObject({ request, order: z.string(), items: z.array(Item) }),
    output: z.array(Item),
    idempotent: true,
    execute: async ({ request: id, order, items }, call) => [
      ...(await provider.claim(asking(id, call), order, items)),
    ],
  });

  const releaseItems = defineTool({
    name: "release_items",
    description: "Gives back the items that a request has claimed.",
    input: z.strictObject({ request }),
    idempotent: true,
    execute: async ({ request: id }, call) => {
      await provider.release(asking(id, call));
      return { released: true };
    },
  });

  const allowLate = defineTool({
    name: "allow_late",
    description: "Lets a request through that came after the time for returns.",
    input: z.strictObject({ request, days: z.int().positive() }),
    confirm: () => ({ approvers: ["role:reviewer"], title: "Let a late request through" }),
    idempotent: true,
    execute: async ({ request: id, days }, call) => {
      await provider.allowLate(asking(id, call), days);
      return { allowed: true };
    },
  });

  const payBack = defineTool({
    name: "pay_back",
    description: "Pays money back to a customer.",
    input: z.strictObject({ request, amount: Money }),
    output: z.object({ payment: z.string(), amount: Money }),
    confirm: ({ amount }) =>
      amount.minor > currencies[amount.currency].confirmAbove && {
        approvers: ["role:treasurer"],
        title: "Pay a large amount back",
      },
    idempotent: true,
    execute: async ({ request: id, amount }, call) => {
      const { id: payment, currency, minor } = await provider.pay(asking(id, call), amount);
      return { payment, amount: { currency, minor } };
    },
  });

  const writeLetter = defineTool({
    name: "write_letter",
    description: "Sends a letter to a customer.",
    input: z.strictObject({
      request,
      kind: z.enum(["paid", "refused"]),
      recipient: z.string(),
      body: z.string().max(4000),
    }),
    output: z.object({ letter: z.string() }),
    secrets: ["recipient", "body"],
    idempotent: true,
    execute: async ({ request: id, ...letter }, call) => ({
      letter: await provider.send(asking(id, call), letter),
    }),
  });

  return { lookUpOrder, claimItems, releaseItems, allowLate, payBack, writeLetter };
}

export type DeskTools = ReturnType<typeof deskTools>;

function asking(id: string, call: { readonly idempotencyKey: string }): Asking {
  return { request: id, key: call.idempotencyKey };
}
