import { unverified } from "@holdpoint/approvals";
import {
  answer,
  FlowRunner,
  isFlowError,
  replies,
  type Flow,
  type RunResult,
} from "@holdpoint/flow";

import { doubtAnswer, scope, type Desk, type DeskParts } from "./desk.ts";
import { Word, wordOn } from "./flows/errand.ts";
import { actor } from "./people.ts";
import type { FlowName } from "./profile.ts";

/** One thing at a time with a run; `busy`: something else is under way. */
function oneAtATime() {
  const busy = new Set<string>();
  return async (runId: string, work: () => Promise<string>): Promise<string> => {
    if (busy.has(runId)) return "busy";
    busy.add(runId);
    try {
      return await work();
    } finally {
      busy.delete(runId);
    }
  };
}

/** A program over a runner alone: one thing at a time with each run, and no registry. */
export function runnerDesk(parts: DeskParts): Desk {
  const { store, approvals, keyring, clock, ids, logger, onEvent, flows } = parts;
  const { records } = approvals;
  const runner = new FlowRunner({
    log: store.log,
    approvals,
    keyring,
    clock,
    ids,
    logger,
    onEvent,
  });
  const inTurn = oneAtATime();
  const alone = (runId: string, work: (flow: Flow) => Promise<RunResult>): Promise<string> =>
    inTurn(runId, async () => (await work(flowOf(runId))).status);

  const flowOf = (runId: string): Flow => flows[runId.split("-")[0] as FlowName];

  async function takenUp(runId: string): Promise<string> {
    try {
      return await alone(runId, async (flow) => {
        const adopted = await runner.adopt(flow, runId);
        return adopted.status === "paused" ? runner.resume(flow, runId) : adopted;
      });
    } catch (error) {
      if (isFlowError(error, "run-not-found")) return "not there";
      if (isFlowError(error, "resume-terminal")) return "ended";
      throw error;
    }
  }

  return {
    async start(_, id) {
      const requestedBy = unverified("gus");
      try {
        return await alone(id, (flow) => runner.run(flow, { id }, { runId: id, requestedBy }));
      } catch (error) {
        if (isFlowError(error, "run-exists")) return "there";
        throw error;
      }
    },
    async takeUp(runs) {
      const said: string[] = [];
      for (const runId of runs) said.push(await takenUp(runId));
      return said.join(", ");
    },
    decide: async ({ id, decision, attemptId }) =>
      (await records.decide({ scope, id, decision, attemptId })).status,
    reply: (runId, { id, decision }) =>
      alone(runId, (flow) => runner.resume(flow, runId, replies({ [id]: decision }))),
    answer: (runId, id) =>
      alone(runId, (flow) => {
        const said = answer(Word, wordOn(id), { by: actor("dana") });
        return runner.resume(flow, runId, replies({ [id]: said }));
      }),
    resolve: (runId, doubt) =>
      alone(runId, (flow) =>
        runner.resume(flow, runId, replies({ [doubt.id]: doubtAnswer(parts, doubt) })),
      ),
    cancel: (runId, by) =>
      inTurn(runId, async () => {
        await runner.cancel(flowOf(runId), runId, { reason: "not wanted", by });
        return "cancelled";
      }),
    sweep: async () => `${(await records.sweep(scope)).length} expired`,
  };
}
