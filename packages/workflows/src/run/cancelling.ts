import { workflowFacts } from "../definition/define.ts";
import { isTerminal } from "../registry/moves.ts";
import { boundedReason } from "../registry/record.ts";
import { viewOf, type RunView } from "../registry/run-view.ts";
import { readLog } from "./log-reading.ts";
import { RunOwner } from "./owner.ts";
import type { CancelHow, Parts } from "./parts.ts";

/**
 * Ends a run: what this process does with it is told to stop, what waits is withdrawn in the commit that ends it. One that
 * has ended is left as it is.
 * @throws WorkflowError `run-not-found`, `unknown-definition`, `run-moved`, `store-unavailable`
 */
export function cancelRun(parts: Parts, runId: string, how: CancelHow): Promise<RunView> {
  const reason = boundedReason(how.reason);
  parts.lanes.interrupt(runId, new DOMException(`run ${runId} is cancelled`, "AbortError"));
  return parts.lanes.enter(runId, async () => {
    const opened = await parts.access.require(runId);
    const { facts, standing } = opened.record;
    if (isTerminal(standing.status)) return viewOf(opened.record);
    const definition = parts.definitions.exactly(facts.definition, facts.version, runId);
    const logged = await readLog(parts, definition, opened);
    if ("failed" in logged) return viewOf(logged.failed.record);
    const owner = new RunOwner(parts, { ...opened, record: { ...logged.record, standing } });
    const by = how.by === undefined ? {} : { by: how.by };
    if (logged.log === "none") {
      await owner.move({ status: "cancelled", reason, by: how.by });
    } else {
      await owner.runner.cancel(workflowFacts(definition).flow, runId, { reason, ...by });
      await owner.caughtUp();
    }
    parts.faults.clear(runId);
    return viewOf(owner.record);
  });
}
