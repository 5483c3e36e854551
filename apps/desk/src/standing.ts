import { isFlowError } from "@holdpoint/flow";
import { isWorkflowError, type RunView, type WorkflowOutput } from "@holdpoint/workflows";

import type { RefundWorkflow } from "./workflow.ts";

/** It can't go on, and stays as it is; the others are none the worse. */
interface SetAside {
  readonly status: "set-aside";
  readonly why: string;
}

/** Another process works on it at this moment, and will bring it to its rest. */
interface Elsewhere {
  readonly status: "elsewhere";
}

/** Where a request came to rest, or who has it. */
export type Rest =
  | SetAside
  | Elsewhere
  | { readonly status: "waiting" }
  | { readonly status: "completed" };

/** Where a request stands, with what became of it. */
export type Standing =
  | Exclude<Rest, { readonly status: "completed" }>
  | { readonly status: "completed"; readonly outcome: WorkflowOutput<RefundWorkflow> };

/** What a run that nobody here works on says of its request. */
export function restOf({ runId, status, failure, cancelled }: RunView): Rest {
  switch (status) {
    case "completed":
      return { status };
    case "interrupted":
      return { status: "waiting" };
    case "pending":
    case "running":
      return { status: "elsewhere" };
    case "failed":
      return setAside(`its run ${runId} failed: ${failure?.message ?? "nobody knows why"}`);
    case "cancelled":
      return setAside(`its run ${runId} was cancelled: ${cancelled?.reason ?? "nobody said why"}`);
  }
}

export function setAside(why: string): SetAside {
  return { status: "set-aside", why };
}

/** Why one request can't go on, where that is no reason to stop the others. */
export function whyNot(error: unknown): string | undefined {
  if (isWorkflowError(error, "start-key-taken")) {
    return "an earlier request had this id and asked for something else; this one needs an id of its own";
  }
  return isWorkflowError(error) || isFlowError(error) ? error.message : undefined;
}

/** Whether another process has the desk. Nothing is wrong then: each step is taken once, by one of them. */
export function isElsewhere(error: unknown): boolean {
  return isWorkflowError(error, "session-owned") || isWorkflowError(error, "lease-lost");
}
