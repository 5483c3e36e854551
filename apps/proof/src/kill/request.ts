/** One request as a caller makes it, from its start to its end: the people who are asked say what the script says. */
import { approve, deny, type Decision } from "@holdpoint/approvals";
import { inDoubt, replies } from "@holdpoint/flow";
import { verified } from "@holdpoint/testing";
import { edited } from "@holdpoint/tools";
import type { RunView } from "@holdpoint/workflows";

import type { World } from "./world.ts";

/** More looks at a run than any has stops. */
const looksMax = 40;

/** How a run was left: as its view says, or with a call of which nobody knows whether it ran. */
export type Left =
  | { readonly view: RunView }
  | { readonly inDoubt: string; readonly runId: string };

export async function carryOut(world: World, key: string): Promise<Left> {
  const { desk } = world;
  const { runId } = await desk.start("claim", { orderId: key }, { key });
  world.dying.say({ told: "started", runId });
  for (let look = 0; look < looksMax; look += 1) {
    const left = await whereItStands(world, runId);
    if ("inDoubt" in left || left.view.status !== "interrupted") return left;
    for (const { approvalId, tool } of left.view.waitsFor) await decideOn(world, approvalId, tool);
  }
  throw new Error(`run ${runId} goes on waiting, whatever is decided`);
}

export async function whereItStands({ desk }: World, runId: string): Promise<Left> {
  const view = await desk.settled(runId);
  const doubt = view.waitsFor.find(({ kind }) => kind === "in-doubt");
  return doubt === undefined ? { view } : { inDoubt: doubt.tool, runId };
}

/**
 * Carries a run on that waits for somebody who knows what became of a call: who looks finds it in the world outside, or does
 * not. Its workflows have no word for that answer yet, so its own runner takes it.
 */
export async function answerDoubts({ runner, flow, ledger, wire, mail }: World, runId: string) {
  let result = await runner.adopt(flow, runId);
  for (let look = 0; result.status === "paused" && look < looksMax; look += 1) {
    const { pending } = result;
    if (pending.kind !== "in-doubt") throw new Error(`run ${runId} waits for '${pending.kind}'`);
    const tool = pending.tool === wire.name ? wire : mail;
    const ran = ledger.of(runId).find((effect) => effect.tool === tool.name);
    const by = await verified("dana");
    const answer =
      ran === undefined
        ? inDoubt.didNotRun({ by })
        : inDoubt.ran(tool, { ref: refOf(tool.name, ran.args) }, { by });
    result = await runner.resume(flow, runId, replies({ [pending.id]: answer }));
  }
  return result;
}

function refOf(tool: string, args: string): string {
  const { orderId, cents } = JSON.parse(args) as { orderId: string; cents: number };
  return `${tool} ${orderId} ${cents}`;
}

/** Everybody who has a say about one approval says it, one after the other; who has said it already says it again. */
async function decideOn(world: World, approvalId: string | undefined, tool: string): Promise<void> {
  if (approvalId === undefined) throw new Error(`'${tool}' waits without a record`);
  for (const decision of await script(world, tool)) {
    const stands = await world.records.read("default", approvalId);
    if (stands?.state === "consumed") return; // decided, and the run has gone on by itself
    const { status } = await world.desk.decide(approvalId, decision);
    if (status === "accepted" || status === "already")
      world.dying.say({ told: "decided", approvalId });
  }
}

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
