import { Workflows } from "@holdpoint/workflows";

import { doubtAnswer, scope, type Desk, type DeskParts } from "./desk.ts";
import { wordOn } from "./flows/errand.ts";
import { requester } from "./people.ts";

/** The facade by hand: no leases, one process at a time is meant to work on a run. */
export function facadeDesk(parts: DeskParts): Desk {
  const { store, definitions, keyring, clock, ids, logger, onEvent, edits, errand, approvals } =
    parts;
  const desk = new Workflows({
    store,
    definitions,
    keyring,
    clock,
    ids,
    logger,
    onEvent,
    edits,
  });
  const decide: Desk["decide"] = async ({ id, decision }) => {
    const { status, missing, supersededBy } = await desk.decide(id, decision);
    if (supersededBy !== undefined) return "superseded";
    return missing === undefined ? status : "open";
  };
  return {
    async start(flow, id) {
      const view = await desk.start(flow, { id }, { key: id, requestedBy: requester() });
      return view.runId;
    },
    async takeUp() {
      const adoptions = await desk.adoptAll();
      const broken = adoptions.find(({ did }) => did === "broken");
      if (broken?.did === "broken") throw broken.error;
      return adoptions.map(({ did }) => did).join(", ");
    },
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
