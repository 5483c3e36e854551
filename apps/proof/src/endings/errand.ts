/** A run of two calls, the second of which somebody has to allow, whose process or thread ends where it is told to. */
import { appendFileSync } from "node:fs";

import { DeferredApproval, type ApprovalPort, type ApprovalStore } from "@holdpoint/approvals";
import { flow, FlowRunner, type RunLog } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineTool, Executor } from "@holdpoint/tools";
import { z } from "zod";

export const endings = ["tool", "guard", "listener", "pause", "rejection"] as const;
export type Ending = (typeof endings)[number];

export interface ErrandHow {
  readonly approvals: ApprovalStore;
  /** Where each act is written down, under its key. */
  readonly acts: string;
  readonly log?: RunLog;
  readonly ends?: Ending;
}

const State = z.object({
  orderId: z.string(),
  cents: z.int().optional(),
  paid: z.string().optional(),
});

const leave = (): never => process.exit(7);

/** A runner of it, and the flow. */
export function errandOn({ approvals, acts, log, ends }: ErrandHow) {
  const keyring = keyringOf(new Uint8Array(32).fill(7));
  const act = (name: string, key: string) => appendFileSync(acts, `${name} ${key}\n`);
  const look = defineTool({
    name: "look",
    description: "Looks an order up.",
    input: z.object({ orderId: z.string() }),
    output: z.object({ cents: z.int() }),
    idempotent: true,
    execute: (_, { idempotencyKey }) => {
      act("look", idempotencyKey);
      if (ends === "tool") leave();
      return { cents: 700 };
    },
  });
  const pay = defineTool({
    name: "pay",
    description: "Pays money back.",
    input: z.object({ orderId: z.string(), cents: z.int() }),
    output: z.object({ refundId: z.string() }),
    idempotent: true,
    confirm: true,
    execute: ({ orderId }, { idempotencyKey }) => {
      act("pay", idempotencyKey);
      return { refundId: `r-${orderId}` };
    },
  });
  const errand = flow("errand", State)
    .node("look", async ({ orderId }, ctx) => {
      const { cents } = await ctx.call(look, { orderId });
      // Of the code's own, and caught by nobody: Node ends the process for it.
      if (ends === "rejection") void Promise.reject(new Error("caught by nobody"));
      return { cents };
    })
    .call("pay", pay, {
      args: ({ orderId, cents }) => ({ orderId, cents: cents ?? 0 }),
      into: ({ refundId }) => ({ paid: refundId }),
    })
    .path("look", "pay")
    .build();
  const filing = new DeferredApproval(approvals, { keyring });
  const port: ApprovalPort = {
    records: filing.records,
    async request(request, how) {
      const answer = await filing.request(request, how);
      return ends === "pause" ? leave() : answer;
    },
  };
  const guard = ends === "guard" ? [{ name: "leaves", check: leave }] : [];
  const runner = new FlowRunner({
    executor: new Executor({ approvals: port, guards: guard }),
    keyring,
    ...(log && { log }),
    onEvent: ({ type }) => void (ends === "listener" && type === "call-finished" && leave()),
  });
  return { errand, runner };
}
