import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

import { currencies, Money } from "./money.ts";
import { orderTools } from "./order-tools.ts";
import { askingOf, type Provider } from "./provider.ts";

const request = z.string();

/**
 * What the desk can do to the world, each as a tool: named, validated, journaled, and repeatable under its key, so that a
 * crash between the effect and the journal does nothing twice.
 */
export function deskTools(provider: Provider) {
  const allowLate = defineTool({
    name: "allow_late",
    description: "Lets a request through that came after the time for returns.",
    input: z.strictObject({ request, days: z.int().positive() }),
    confirm: () => ({ approvers: ["role:reviewer"], title: "Let a late request through" }),
    idempotent: true,
    execute: async ({ request: id, days }, call) => {
      await provider.allowLate(askingOf(id, call), days);
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
      const { id: payment, currency, minor } = await provider.pay(askingOf(id, call), amount);
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
      letter: await provider.send(askingOf(id, call), letter),
    }),
  });

  return { ...orderTools(provider), allowLate, payBack, writeLetter };
}

export type DeskTools = ReturnType<typeof deskTools>;
