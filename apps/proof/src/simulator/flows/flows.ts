import { flowEdits } from "@holdpoint/flow";
import { defineWorkflow } from "@holdpoint/workflows";
import { z } from "zod";

import { batchFlow } from "./batch.ts";
import { errandFlow, napFlow } from "./errand.ts";
import { refundFlow } from "./refund.ts";
import { toolsDoing, type Doing } from "./tools.ts";
import { triageFlow } from "./triage.ts";

const Input = z.object({ id: z.string() });

/** The flows under test as one process has them, with their tools, and as workflows. */
export function flowsDoing(doing: Doing) {
  const tools = toolsDoing(doing);
  const flows = {
    refund: refundFlow(tools),
    triage: triageFlow(tools),
    batch: batchFlow(tools),
    errand: errandFlow(tools),
    nap: napFlow(tools),
  };
  const version = "1";
  const errand = defineWorkflow({
    name: "errand",
    version,
    input: Input,
    resume: z.string(),
    flow: flows.errand,
  });
  const definitions = [
    defineWorkflow({ name: "refund", version, input: Input, flow: flows.refund }),
    defineWorkflow({ name: "triage", version, input: Input, flow: flows.triage }),
    defineWorkflow({ name: "batch", version, input: Input, flow: flows.batch }),
    errand,
    defineWorkflow({ name: "nap", version, input: Input, flow: flows.nap }),
  ] as const;
  const edits = flowEdits(Object.values(flows), Object.values(tools));
  return { tools, flows, definitions, errand, edits };
}

export type Flows = ReturnType<typeof flowsDoing>;
