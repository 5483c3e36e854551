import { defineInterrupt, flow, memoryRunLog } from "@holdpoint/flow";
import { memoryApprovalStore, memoryHome } from "@holdpoint/approvals";
import { defineWorkflow, memoryRunRegistry } from "@holdpoint/workflows";
import { z } from "zod";

const Photo = defineInterrupt({ name: "photo", answer: z.object({ url: z.url() }) });

const claim = defineWorkflow({
  name: "claim",
  version: "1",
  input: z.object({ claimId: z.string() }),
  resume: z.object({ url: z.url() }),
  flow: flow("claim", z.object({ claimId: z.string(), url: z.string().optional() }))
    .node("collect", (_state, ctx) => ctx.ask(Photo, undefined), { asks: [Photo] })
    .build(),
  summarize: ({ claimId }) => `${claimId} has its photo`,
});

const home = memoryHome();
const claims = claim.runsOn({
  store: {
    approvals: memoryApprovalStore(home),
    log: memoryRunLog(home),
    runs: memoryRunRegistry(home),
  },
});

const { runId } = await claims.start({ claimId: "C-7" });
await claims.settled(runId);

// Resolves at the run's next stop; the same payload for the same question, given again, changes nothing.
export const stop = await claims.resume(runId, { url: "https://example.test/7.jpg" });
export const again = await claims.resume(runId, { url: "https://example.test/7.jpg" });
export const output = await claims.output(runId);
