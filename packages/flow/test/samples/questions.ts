import { unverified } from "@holdpoint/approvals";
import { answer, defineInterrupt, flow, FlowRunner } from "@holdpoint/flow";
import { z } from "zod";

const Evidence = defineInterrupt({
  name: "Evidence",
  info: z.object({ question: z.string() }), // what whoever answers is shown
  answer: z.object({ text: z.string().min(1) }), // read by this before anything is spent
  cursor: z.number(), // what the code finds again
});

const Claim = z.object({
  questions: z.array(z.string()),
  found: z.array(z.string()).default([]),
});

const claim = flow("claim", Claim)
  .node(
    "collect",
    async (state, ctx) => {
      const found: string[] = [];
      for (const [index, question] of state.questions.entries()) {
        const { text } = await ctx.ask(Evidence, { question }, { cursor: index });
        found.push(text);
      }
      return { found };
    },
    { asks: [Evidence] },
  )
  .build();

const runner = new FlowRunner();
let result = await runner.run(claim, { questions: ["When?", "Where?"] });

export const shown: unknown[] = [];
while (result.status === "paused") {
  const { pending, checkpoint } = result;
  if (pending.kind === "interrupt") shown.push(pending.info);
  const reply = answer(Evidence, { text: `answer ${shown.length}` }, { by: unverified("erin") });
  result = await runner.resume(claim, checkpoint, reply);
}

export const claimed = result.state;
