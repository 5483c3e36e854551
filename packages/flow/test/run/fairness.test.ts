import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, FlowRunner, memoryRunLog } from "../../src/index.ts";

describe("a queue of durable runs", () => {
  it("FLOW-07 lets the rest of the process have its turn, so that a signal can abort it", async () => {
    const counted = flow("counted", z.object({ n: z.int() }))
      .node("add", (state) => ({ n: state.n + 1 }))
      .route("add", ["add", "$end"], (state) => (state.n < 10_000 ? "add" : "$end"))
      .build();
    const runner = new FlowRunner({ log: memoryRunLog(), roundsMax: 20_000, visitsMax: 20_000 });
    const abort = new AbortController();
    // Nothing but the event loop calls this: a run that only awaits promises would end before.
    const served = new Promise<void>((resolve) => {
      setImmediate(() => {
        abort.abort();
        resolve();
      });
    });
    const run = runner.run(counted, { n: 0 }, { signal: abort.signal });
    await expect(run).rejects.toMatchObject({ code: "aborted" });
    await served;
  });
});
