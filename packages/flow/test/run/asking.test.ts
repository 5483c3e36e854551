import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  answer,
  answerJson,
  defineInterrupt,
  flow,
  FlowRunner,
  interruptFacts,
  memoryRunLog,
  replies,
  type NodeContext,
} from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import {
  asAnotherProcess,
  dana,
  keyring,
  rejection,
  stateOf,
  waiting,
  world,
  yes,
} from "../support/world.ts";

const State = z.object({ n: z.number(), said: z.array(z.string()).optional() });
const Evidence = defineInterrupt({
  name: "Evidence",
  info: z.object({ round: z.number() }),
  answer: z.object({ text: z.string().min(1), at: z.coerce.date().optional() }),
  cursor: z.object({ round: z.number(), said: z.array(z.string()) }),
  answerBy: "anyone",
});
const Yes = defineInterrupt({ name: "Yes", answer: z.boolean() });

/** A flow of one node that may ask both. */
function asking(body: (ctx: NodeContext, n: number) => Promise<string[] | void>) {
  return flow("f", State)
    .node("ask", async (s, ctx) => ({ said: (await body(ctx, s.n)) ?? [] }), {
      asks: [Evidence, Yes],
    })
    .build();
}

const text = (said: string) => answer(Evidence, { text: said });

describe("an interrupt", () => {
  for (const durable of [false, true]) {
    const mode = durable ? "durable" : "portable";
    it(`FLOW-22 gives the n-th question of a name the n-th answer, over loads and other processes: ${mode}`, async () => {
      const { log, free } = effects();
      const f = asking(async (ctx) => {
        const said: string[] = [];
        for (let round = 0; round < 3; round++) {
          await ctx.call(free, { n: round });
          const { text } = await ctx.ask(Evidence, { round });
          said.push(text);
        }
        said.push(String(await ctx.ask(Yes)));
        return said;
      });
      const runLog = durable ? { log: memoryRunLog() } : {};
      const { runner } = world(runLog);
      let result = await runner().run(f, { n: 1 }, { runId: "r" });
      for (let round = 0; round < 3; round++) {
        const { pending, pendings, checkpoint } = waiting(result);
        expect(pendings).toHaveLength(1);
        expect(pending).toMatchObject({ kind: "interrupt", path: "ask#1", tool: "ask:Evidence" });
        if (pending.kind !== "interrupt") throw new Error("no interrupt");
        expect(pending.name).toBe("Evidence");
        expect(pending.answerBy).toBe("anyone");
        expect(pending.info).toEqual({ round });
        const kept = runner().loadCheckpoint(f, runner().dumpCheckpoint(checkpoint));
        asAnotherProcess();
        result = await runner().resume(f, kept, text(`answer ${round}`));
      }
      const last = waiting(result);
      expect(last.pending).toMatchObject({ kind: "interrupt", name: "Yes", answerBy: "people" });
      const done = await runner().resume(f, last.checkpoint, answerJson(true, { by: dana }));
      expect(stateOf(done).said).toEqual(["answer 0", "answer 1", "answer 2", "true"]);
      expect(log).toEqual(["free(0)", "free(1)", "free(2)"]);
    });
  }
});
