import { Supervisor } from "@holdpoint/workflows";

import { doubtAnswer, scope, type Desk, type DeskParts } from "./desk.ts";
import { wordOn } from "./flows/errand.ts";
import { requester } from "./people.ts";

/** How long a session stays with a process that died, and how often a supervisor looks round, in milliseconds. */
export const leaseMs = 30_000;
const pollMs = 10_000;

/** A supervisor over leases: it takes up by itself what there is. */
export function supervisorDesk(parts: DeskParts): Desk {
  const { store, definitions, keyring, clock, ids, logger, onEvent, edits, errand, approvals } =
    parts;
  const desk = new Supervisor({
    store,
    definitions,
    keyring,
    clock,
    ids,
    logger,
    onEvent,
    edits,
    leaseMs,
    pollMs,
    sessions: { match: () => true, max: 4 },
  });
  const decide: Desk["decide"] = async ({ id, decision }) => {
    const { status, missing, supersededBy } = await desk.decide(id, decision);
    if (supersededBy !== undefined) return "superseded";
    return missing === undefined ? status : "open";
  };
  return {
    async begin() {
      const { sessions, adoptions } = await desk.activate();
      return `${sessions.length} sessions, ${adoptions.length} runs`;
    },
    async end() {
      const { released, lapsing } = await desk.shutdown();
      return `${released.length} sessions given back, ${lapsing.length} lapse`;
    },
    async start(flow, id) {
      // Callers of one run agree on its session.
      const session = `session-${id.at(-1)}`;
      const options = { key: id, requestedBy: requester(), session };
      return (await desk.start(flow, { id }, options)).runId;
    },
    takeUp: async () => "by itself",
    decide,
    reply: (_, how) => decide(how),
    async answer(runId, id) {
      const how = { interrupt: id, by: requester() };
      return (await desk.resume(errand, runId, wordOn(id), how)).status;
    },
    resolve: async (runId, doubt) =>
      (await desk.answerDoubt(runId, doubt.id, doubtAnswer(parts, doubt))).status,
    async cancel(runId, by) {
      return (await desk.cancel(runId, { reason: "not wanted", by })).status;
    },
    sweep: async () => `${(await approvals.records.sweep(scope)).length} expired`,
  };
}
