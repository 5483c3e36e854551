import {
  approve,
  DeferredApproval,
  deny,
  memoryApprovalStore,
  unverified,
} from "@holdpoint/approvals";
import { flow, FlowRunner, isFlowError, replies } from "@holdpoint/flow";
import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

const send = defineTool({
  name: "send",
  description: "Send a mail.",
  input: z.object({ to: z.string() }),
  confirm: true,
  execute: ({ to }) => `sent to ${to}`,
});

const Mailing = z.object({
  to: z.array(z.string()),
  sent: z.array(z.string()).default([]),
});

const mailing = flow("mailing", Mailing)
  .node("send", async (state, ctx) => {
    const each = state.to.map((to) =>
      ctx.call(send, { to }).catch((error: unknown) => {
        if (isFlowError(error, "approval-denied")) return `not to ${to}`;
        throw error;
      }),
    );
    return { sent: await Promise.all(each) };
  })
  .build();

const approvals = new DeferredApproval(memoryApprovalStore());
const runner = new FlowRunner({ approvals });
const dana = unverified("dana");

const first = await runner.run(mailing, { to: ["erin", "fred", "gina"] });
if (first.status !== "paused") throw new Error("three mails wait");
const [erin, fred, gina] = first.pendings.map(({ id }) => id);

// One decision lets one call run; the others keep waiting under their ids.
export const second = await runner.resume(
  mailing,
  first.checkpoint,
  replies({ [erin!]: approve({ by: dana }) }),
);
if (second.status !== "paused") throw new Error("two mails wait");

export const done = await runner.resume(
  mailing,
  second.checkpoint,
  replies({ [fred!]: deny({ by: dana }), [gina!]: approve({ by: dana }) }),
);
