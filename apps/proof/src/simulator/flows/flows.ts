import { flowEdits } from "@holdpoint/flow";
import { defineWorkflow } from "@holdpoint/workflows";
import { z } from "zod";

import { batchFlow } from "./batch.ts";
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
  };
  const version = "1";
  const definitions = [
    defineWorkflow({ name: "refund", version, input: Input, flow: flows.refund }),
    defineWorkflow({ name: "triage", version, input: Input, flow: flows.triage }),
    defineWorkflow({ name: "batch", version, input: Input, flow: flows.batch }),
  ] as const;
  const edits = flowEdits(Object.values(flows), Object.values(tools));
  return { tools, flows, definitions, edits };
}

export type Flows = ReturnType<typeof flowsDoing>;
