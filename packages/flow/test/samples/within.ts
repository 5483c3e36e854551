import {
  approve,
  DeferredApproval,
  deny,
  memoryApprovalStore,
  unverified,
} from "@holdpoint/approvals";
import { flow, FlowRunner, replies } from "@holdpoint/flow";
import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

const transfer = defineTool({
  name: "transfer",
  description: "Pay money to an account.",
  input: z.object({ to: z.string(), cents: z.int().positive() }),
  output: z.object({ receipt: z.string() }),
  execute: ({ to, cents }) => ({ receipt: `${cents} to ${to}` }),
});

const Bill = z.object({ to: z.string(), cents: z.int(), receipt: z.string().optional() });

// One bill is a flow of its own.
const bill = flow("bill", Bill)
  .gate("check", { payload: (s) => ({ to: s.to, cents: s.cents }), when: (s) => s.cents > 10_000 })
  .call("pay", transfer, {
    args: (s) => ({ to: s.to, cents: s.cents }),
    into: (r) => ({ receipt: r.receipt }),
  })
  .edge("check", "pay")
  .build();

const Month = z.object({ bills: z.array(Bill), paid: z.array(z.string()).default([]) });

const month = flow("month", Month)
  .map("bills", {
    over: (s) => s.bills,
    each: async (one, ctx) => (await ctx.run(bill, one)).receipt!,
    runs: [bill], // what a node's code may run is a part of the graph
    onError: "skip",
    into: ({ items }) => ({ paid: items.map((item) => (item.ok ? item.value : item.reason)) }),
  })
  .build();

const runner = new FlowRunner({ approvals: new DeferredApproval(memoryApprovalStore()) });
const dana = unverified("dana");

const first = await runner.run(month, {
  bills: [
    { to: "rent", cents: 90_000 },
    { to: "phone", cents: 2_000 },
    { to: "boat", cents: 500_000 },
  ],
});
if (first.status !== "paused") throw new Error("two bills wait");
export const waits = first.pendings.map(({ path }) => path); // bills#1[0]/bill.0/check#1 …
const [rent, boat] = first.pendings.map(({ id }) => id);

export const done = await runner.resume(
  month,
  first.checkpoint,
  replies({ [rent!]: approve({ by: dana }), [boat!]: deny({ by: dana }) }),
);
