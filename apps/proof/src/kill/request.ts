/** One request as a caller makes it, from its start to its end: the people who are asked say what the script says. */
import { approve, deny, type Decision } from "@holdpoint/approvals";
import { inDoubt, type DoubtAnswer } from "@holdpoint/flow";
import { verified } from "@holdpoint/testing";
import { edited } from "@holdpoint/tools";
import type { RunView } from "@holdpoint/workflows";

import { refOf } from "./effects.ts";
import { waitMs } from "./parcel.ts";
import type { Scenario, World } from "./world.ts";

type Wait = RunView["waitsFor"][number];

/** More looks at a run than any has stops. */
const looksMax = 60;
/** A bound for what hangs, no measure of speed. */
const patienceMs = 120_000;

/** How a run was left, and the calls of which nobody could know whether they ran. */
export interface Left {
  readonly view: RunView;
  readonly doubts: readonly string[];
}

export async function carryOut(world: World, scenario: Scenario, key: string): Promise<Left> {
  const { desk, dying } = world;
  const { runId } = await desk.start(scenario, { orderId: key }, { key });
  dying.say({ told: "started", runId });
  if (scenario === "errand") return { view: await calledOff(world, runId), doubts: [] };
  const doubts: string[] = [];
  for (let look = 0; look < looksMax; look += 1) {
    const view = await nextStop(world, runId);
    if (view.status !== "interrupted") return { view, doubts };
    // One after the other, so that each run comes by the same stops.
    const wait = view.waitsFor.find(({ tool }) => tool !== "spare");
    if (wait === undefined) throw new Error(`run ${runId} waits for what it asked in vain`);
    if (wait.kind === "in-doubt") doubts.push(wait.tool);
    await answer(world, view, wait);
  }
  throw new Error(`run ${runId} goes on waiting, whatever is decided`);
}

/** The next place where a run waits for somebody who has not said anything yet, or its end. */
async function nextStop(world: World, runId: string): Promise<RunView> {
  const { desk } = world;
  return until(`the next stop of run ${runId}`, async () => {
    const view = await desk.settled(runId);
    if (view.status !== "interrupted") return view;
    return (await isHeard(world, view)) ? undefined : view;
  });
}

/** Whether something that a run waits for is decided already, so that it goes on by itself. */
async function isHeard({ records }: World, { waitsFor }: RunView): Promise<boolean> {
  for (const { approvalId } of waitsFor) {
    if (approvalId === undefined) continue;
    const stands = await records.read("default", approvalId);
    if (stands !== undefined && stands.state !== "pending") return true;
  }
  return false;
}

/** Waits for the thing itself. */
async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const begun = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() - begun > patienceMs) throw new Error(`${what} does not come`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Waits until everything that is to be told has been told. */
export async function allTold({ told, stores }: World): Promise<void> {
  if (told === undefined) return;
  await until("what is to be told", async () => {
    const waiting = await stores.outbox.due("default", Number.MAX_SAFE_INTEGER, 1);
    return waiting.length === 0 ? true : undefined;
  });
}

async function answer(world: World, view: RunView, wait: Wait): Promise<void> {
  const { desk, parcel } = world;
  const { kind, tool, id, approvalId } = wait;
  const { runId } = view;
  const by = await verified("dana");
  switch (tool) {
    case "ask:mark":
      await desk.resume(parcel, runId, { mark: "seen" }, { by });
      return;
    case "node:parcel.hold":
    case "sleep":
      return runOut(world, runId, id);
    default:
  }
  if (kind === "in-doubt") {
    await desk.answerDoubt(runId, id, await foundOutside(world, runId, tool));
    return;
  }
  if (approvalId === undefined) throw new Error(`'${tool}' waits without a record`);
  for (const decision of await script(world, tool)) {
    const { status } = await desk.decide(approvalId, decision);
    if (status === "accepted" || status === "already")
      world.dying.say({ told: "decided", approvalId });
  }
}

/** Nobody says anything until it is too late. */
async function runOut(world: World, runId: string, id: string): Promise<void> {
  await world.stores.advance(waitMs);
  await world.look();
  await until(`the end of the time of run ${runId}`, async () => {
    const { waitsFor } = await world.desk.settled(runId);
    return waitsFor.some((wait) => wait.id === id) ? undefined : true;
  });
}

/** What became of a call in doubt: who looks finds it in the world outside, or does not. */
async function foundOutside(
  { onceTools, ledger }: World,
  runId: string,
  name: string,
): Promise<DoubtAnswer> {
  const by = await verified("dana");
  const tool = onceTools.find((one) => one.name === name);
  const ran = ledger.of(runId).find((effect) => effect.tool === name);
  if (tool === undefined || ran === undefined) return inDoubt.didNotRun({ by });
  const { orderId, cents } = JSON.parse(ran.args) as { orderId: string; cents: number };
  return inDoubt.ran(tool, { ref: refOf(name, { orderId, cents }) }, { by });
}

/** Everybody who has a say about one approval says it, one after the other; who has said it already says it again. */
async function script({ ship }: World, tool: string): Promise<readonly Decision[]> {
  const [dana, erik] = [await verified("dana"), await verified("erik")];
  switch (tool) {
    case "node:claim.review":
      return [approve({ by: dana }), approve({ by: erik })];
    case "node:claim.extra":
      return [deny({ by: dana, note: "not this time" })];
    case "grace":
      return [deny({ by: erik })];
    case "ship":
      return [approve({ by: dana, edited: edited(ship, { orderId: "edited", cents: 7 }) })];
    default:
      return [approve({ by: dana })];
  }
}

/** An errand is under way, and is called off; one that has ended is left. */
async function calledOff(world: World, runId: string): Promise<RunView> {
  const { desk, dying } = world;
  const view = await Promise.race([desk.settled(runId), world.atWork.on(runId)]);
  if (view !== undefined) return view;
  await desk.cancel(runId, { reason: "called off" });
  dying.say({ told: "cancelled" });
  return desk.settled(runId);
}
