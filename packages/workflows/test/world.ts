import { memoryHome, unverified, type Clock, type Ids } from "@holdpoint/approvals";
import { flow, type Logger } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

import { defineWorkflow, Workflows, type WorkflowStore } from "../src/index.ts";
import { storesOn, type Homes } from "./faulty-stores.ts";

export const keyring = keyringOf(new Uint8Array(32).fill(7));
export const dana = unverified("dana");
export const rita = unverified("rita");

export interface HandClock extends Clock {
  move(ms: number): void;
}

/** A clock that stands until it is moved. */
export function handClock(start = 1_000_000): HandClock {
  let now = start;
  return {
    now: () => now,
    monotonic: () => now,
    timer: () => () => undefined,
    move: (ms) => void (now += ms),
  };
}

/** Ids that count; several in one test each get their own prefix. */
export function countingIds(prefix = "id"): Ids {
  let count = 0;
  const next = (): string => `${prefix}-${(count += 1)}`;
  return { id: next, uuid: next, random: () => 0.5 };
}

const RefundState = z.object({
  orderId: z.string(),
  cents: z.int().optional(),
  refundId: z.string().optional(),
});

/** What the tools of one world did, whoever ran them. */
export interface Effects {
  readonly looked: string[];
  readonly paid: string[];
}

/** A flow that looks up, asks at a gate, and pays by a tool that is idempotent. */
export function refunds(effects: Effects, version = "1") {
  const lookUp = defineTool({
    name: "look_up",
    description: "Looks an order up.",
    input: z.object({ id: z.string() }),
    output: z.object({ cents: z.int() }),
    idempotent: true,
    execute: ({ id }) => {
      effects.looked.push(id);
      return { cents: 20_000 };
    },
  });
  const pay = defineTool({
    name: "pay",
    description: "Pays money back.",
    input: z.object({ orderId: z.string(), cents: z.int() }),
    output: z.object({ refundId: z.string() }),
    idempotent: true,
    execute: (_args, { idempotencyKey }) => {
      // As a payment service does: the same key is the same payment.
      if (!effects.paid.includes(idempotencyKey)) effects.paid.push(idempotencyKey);
      return { refundId: "r-1" };
    },
  });
  const built = flow("refund", RefundState, { version })
    .node("assess", async (state, ctx) => ctx.call(lookUp, { id: state.orderId }))
    .gate("review", { payload: (s) => ({ orderId: s.orderId, cents: s.cents }) })
    .call("pay", pay, {
      args: (s) => ({ orderId: s.orderId, cents: s.cents ?? 0 }),
      into: (r) => ({ refundId: r.refundId }),
    })
    .path("assess", "review", "pay")
    .build();
  return defineWorkflow({
    name: "refund",
    version,
    input: z.object({ orderId: z.string() }),
    output: z.object({ refundId: z.string() }),
    flow: built,
    end: (state) => ({ refundId: state.refundId ?? "none" }),
    summarize: (state) => `paid ${state.orderId}`,
  });
}

let worlds = 0;

/** A world whose processes come and go over the same stores: of one home, or each of its own. */
export function world(how: "together" | "apart" = "together") {
  const clock = handClock();
  const one = memoryHome({ clock });
  const another = () => (how === "together" ? one : memoryHome({ clock }));
  const homes: Homes = { approvals: one, log: another(), runs: another() };
  const store = storesOn(homes);
  const effects: Effects = { looked: [], paid: [] };
  const prefix = `w${(worlds += 1)}`;
  let processes = 0;
  /** A new process over the same stores, with definitions of its own. */
  const open = (over: WorkflowStore = store, more: { readonly logger?: Logger } = {}) => {
    const refund = refunds(effects);
    const ids = countingIds(`${prefix}p${(processes += 1)}`);
    const desk = new Workflows({
      store: over,
      definitions: [refund],
      keyring,
      clock,
      ids,
      ...more,
    });
    return { refund, desk };
  };
  return { clock, homes, store, effects, open };
}
