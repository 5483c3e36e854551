import { z } from "zod";

import { flow } from "../../src/index.ts";
import { effects } from "./effects.ts";

export const State = z.object({ n: z.number(), sum: z.number().optional() });
/** What a second use of an answer is refused with. */
export const decided = { code: "approval-already-decided" };

/** A flow that is one gated call, and the log of what ran. */
export function one() {
  const { log, gated } = effects();
  const f = flow("f", State)
    .call("pay", gated, { args: (s) => ({ n: s.n }), into: (r) => ({ sum: r.got }) })
    .build();
  return { log, f };
}
