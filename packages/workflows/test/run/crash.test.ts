import { approve, FlowRunner, type RunEvent } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { workflowFacts } from "../../src/definition/facts.ts";
import type { RunView } from "../../src/index.ts";
import { faultyStores, type FaultKind } from "../faulty-stores.ts";
import { dana, keyring, world } from "../world.ts";

type World = ReturnType<typeof world>;
type Desk = ReturnType<World["open"]>["desk"];

/** What a caller was told before the process was gone. */
interface Told {
  runId?: string;
  decided?: boolean;
}

const input = { orderId: "A-17" };
const key = "request-1";

/** One request from its start to its end, as a caller makes it. */
async function whole(desk: Desk, told: Told): Promise<RunView> {
  const { runId } = await desk.start("refund", input, { key });
  told.runId = runId;
  const { waitsFor } = await desk.settled(runId);
  await desk.decide(waitsFor[0]!.id, approve({ by: dana }));
  told.decided = true;
  return desk.settled(runId);
}

/** How many commits such a request takes, undisturbed. */
async function commitsOfOne(how: "together" | "apart"): Promise<number> {
  const { open, homes } = world(how);
  const { store, commits } = faultyStores(homes, 0, "fail");
  await whole(open(store).desk, {});
  return commits();
}

/** What a new process over the same stores makes of what the first one left. */
async function recovered({ open, effects, store }: World, told: Told) {
  const { desk, refund } = open();
  await desk.adoptAll();
  await desk.waitIdle();
  const { runId } = await desk.start("refund", input, { key });
  let view = await desk.settled(runId);
  const byItself = view.status === "completed";
  if (view.status === "interrupted") {
    await desk.decide(view.waitsFor[0]!.id, approve({ by: dana }));
    view = await desk.settled(runId);
  }
  const runner = new FlowRunner({ log: store.log, keyring });
  const events = await runner.history(workflowFacts(refund).flow, runId);
  return {
    keptItsId: told.runId === undefined || told.runId === runId,
    keptItsDecision: told.decided !== true || byItself,
    status: view.status,
    runs: (await desk.list()).items.length,
    paid: effects.paid.length,
    answered: count(events, "answered"),
    completed: count(events, "completed"),
    output: await desk.output(refund, runId),
  };
}

const count = (events: readonly RunEvent[], type: RunEvent["type"]): number =>
  events.filter((event) => event.type === type).length;

const finishedOnce = {
  keptItsId: true,
  keptItsDecision: true,
  status: "completed",
  runs: 1,
  paid: 1,
  answered: 1,
  completed: 1,
  output: { refundId: "r-1" },
};

const kinds: readonly FaultKind[] = ["die-before", "die-after", "fail", "lose-answer"];

describe.each(["together", "apart"] as const)("a process that ends at any write", async (how) => {
  const commits = await commitsOfOne(how);
  const cases = kinds.flatMap((kind) =>
    Array.from({ length: commits }, (_, at) => ({ kind, at: at + 1 })),
  );

  it.each(cases)(
    `WF-21 WF-31 finishes a request once after $kind at write $at, stores ${how}`,
    async ({ kind, at }) => {
      const here = world(how);
      const faulty = faultyStores(here.homes, at, kind);
      const told: Told = {};
      const first = here.open(faulty.store).desk;
      const ended = whole(first, told).then(
        () => first.waitIdle(),
        () => first.waitIdle(),
      );
      await Promise.race([faulty.died, ended]);
      expect(faulty.commits()).toBeGreaterThanOrEqual(at);
      expect(await recovered(here, told)).toEqual(finishedOnce);
    },
  );
});
