/**
 * The same run undisturbed: no store, no faults, the decisions that were spent given at once. Whatever happened to the real
 * one, it has to end so (I12).
 */
import type { ApprovalPort, DecisionRecord } from "@holdpoint/approvals";
import { FlowRunner, type FlowState } from "@holdpoint/flow";

import type { LogBook } from "./books/log-book.ts";
import { errorLabel } from "./expected.ts";
import { flowsDoing, type Flows } from "./flows/flows.ts";
import { resultOf } from "./flows/tools.ts";
import { keyring } from "./keyring.ts";
import { requester } from "./people.ts";
import type { FlowName } from "./profile.ts";

export interface Undisturbed {
  readonly status: "completed" | "paused" | "failed";
  readonly state: unknown;
  readonly failure: string | undefined;
  /** What it did, as `Effects.of` says it. */
  readonly acts: readonly string[];
}

const acts = new Set<string>();
const flows: Flows = flowsDoing((tool, args, { idempotencyKey }) => {
  acts.add(`${tool} ${JSON.stringify({ id: args.id, n: args.n })} ${idempotencyKey}`);
  return Promise.resolve(resultOf(tool, args));
});

/** Carries a run out again by what its log says was decided. */
export async function undisturbed(
  log: LogBook,
  { flow, id }: { flow: FlowName; id: string },
): Promise<Undisturbed> {
  acts.clear();
  const runner = new FlowRunner({ approvals: portOf(log), keyring });
  const done = (): readonly string[] => [...acts].toSorted();
  try {
    const input = { id };
    const options = { runId: log.runId, requestedBy: requester() };
    const result = await runner.run(flows.flows[flow], input, options);
    const state: FlowState<(typeof flows.flows)[FlowName]> | undefined =
      result.status === "completed" ? result.state : undefined;
    return { status: result.status, state, failure: undefined, acts: done() };
  } catch (error) {
    return { status: "failed", state: undefined, failure: errorLabel(error), acts: done() };
  }
}

/** Answers as the log says; what was never answered waits. A denial for the run answers what came after it, as it did. */
function portOf({ answers, denied }: LogBook): ApprovalPort {
  const forRun = new Map<string, DecisionRecord>();
  return {
    async request({ callId, tool }) {
      const decision =
        answers.get(callId)?.answer.decision ?? forRun.get(tool) ?? deniedAs(denied, callId);
      if (decision === undefined) return { status: "pending" };
      if (decision.forRun === true) forRun.set(tool, decision);
      return { status: "decided", decision };
    },
  };
}

/** A denial that its log tells of by the call's end alone. */
function deniedAs(denied: ReadonlySet<string>, callId: string): DecisionRecord | undefined {
  return denied.has(callId) ? { approved: false, by: requester(), at: 0 } : undefined;
}
