import { ToolError } from "@holdpoint/tools";
import { expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { rejection, stateOf, world } from "../support/world.ts";

const State = z.object({ n: z.number(), note: z.string().optional() });

it("WF-29 FLOW-12 leaves a visit of the very round alone whose failed edge takes over", async () => {
  const { log: made, tool } = effects();
  const hopeless = tool("hopeless", {
    run: () => {
      throw new ToolError("for good");
    },
  });
  let breaks = true;
  const f = flow("f", State)
    .node("start", () => {})
    .node("lost", async (_, ctx) => void (await ctx.call(hopeless, { n: 1 })))
    .node("mended", () => ({ note: "mended" }))
    .node("breaks", () => {
      if (breaks) throw new Error("broken");
      return { n: 2 };
    })
    .edge("start", "lost")
    .edge("start", "breaks")
    .failed("lost", "mended")
    .build();
  const { runner } = world({ log: memoryRunLog() });
  await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
  breaks = false;
  expect(stateOf(await runner().retry(f, "r"))).toEqual({ n: 2, note: "mended" });
  expect(made).toEqual(["hopeless(1)"]);
});
