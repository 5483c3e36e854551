/** What a process finds of a run that an earlier one was killed at, once it has taken it up and carried it to its end. */
import type { RunEvent } from "@holdpoint/flow";
import type { RunView } from "@holdpoint/workflows";

import { onceOnly } from "./claim.ts";
import type { Effect } from "./ledger.ts";
import { answerDoubts, carryOut, whereItStands, type Left } from "./request.ts";
import type { World } from "./world.ts";

/** What callers were told before the process was gone. */
export interface Heard {
  readonly runId?: string;
  readonly decided: readonly string[];
}

export interface Verdict {
  /** `in-doubt`: completed too, once somebody had said what became of a call. */
  readonly status: "completed" | "in-doubt";
  /** What is wrong; nothing, where all is as it has to be. */
  readonly faults: readonly string[];
  /** The run's output and effects, to be compared with the undisturbed run's. */
  readonly end: string;
}

export async function recovered(world: World, key: string, heard: Heard): Promise<Verdict> {
  const faults: string[] = [];
  const { desk } = world;
  await desk.adoptAll();
  await desk.waitIdle();
  const found = heard.runId === undefined ? undefined : await whereItStands(world, heard.runId);
  if (found !== undefined && "view" in found)
    faults.push(...(await lostDecisions(world, found.view, heard.decided)));
  const left = found !== undefined && "inDoubt" in found ? found : await carryOut(world, key);
  const runId = "inDoubt" in left ? left.runId : left.view.runId;
  if (heard.runId !== undefined && heard.runId !== runId) faults.push("the start was forgotten");
  const output = await outputOf(world, left, faults);
  const events = await world.runner.history(world.flow, runId);
  faults.push(...spentTwice(events), ...effectsTwice(world.ledger.of(runId)));
  faults.push(...(await recordsLeft(world, runId)));
  const end = JSON.stringify({ output, effects: acts(world.ledger.of(runId)) });
  return { status: "inDoubt" in left ? "in-doubt" : "completed", faults, end };
}

/** What the run gave in the end; somebody says what became of a call where that is in doubt. */
async function outputOf(world: World, left: Left, faults: string[]): Promise<unknown> {
  if ("inDoubt" in left) {
    if (!onceOnly.has(left.inDoubt)) faults.push(`'${left.inDoubt}' is in doubt`);
    const result = await answerDoubts(world, left.runId);
    if (result.status !== "completed") faults.push(`the run is ${result.status}`);
    return result.status === "completed" ? world.ended(result.state) : undefined;
  }
  const { status, runId } = left.view;
  if (status === "completed") return world.desk.output(world.definition, runId);
  faults.push(`the run is ${status}`);
  return undefined;
}

/** A record whose trail is not whole, or that is left open by a run that has ended. */
async function recordsLeft({ records }: World, runId: string): Promise<readonly string[]> {
  const faults: string[] = [];
  const { items } = await records.list("default", { filter: { runId }, limit: 100 });
  for (const { id, state } of items) {
    const { status } = await records.verifyAudit("default", id);
    if (status !== "whole") faults.push(`the trail of ${id} is ${status}`);
    if (state !== "consumed") faults.push(`${id} is still ${state}`);
  }
  return faults;
}

/** A decision that was acknowledged before the kill is used without asking anybody again. */
async function lostDecisions(
  { records }: World,
  { waitsFor }: RunView,
  decided: readonly string[],
): Promise<string[]> {
  const open = new Set(waitsFor.map(({ approvalId }) => approvalId));
  const lost: string[] = [];
  for (const approvalId of new Set(decided)) {
    const stands = await records.show("default", approvalId);
    if (stands === undefined || (stands.state === "pending" && stands.votes.length === 0))
      lost.push(`the decision on ${approvalId} is lost`);
    if (stands?.state !== "pending" && open.has(approvalId))
      lost.push(`the run did not go on by the decision on ${approvalId}`);
  }
  return lost;
}

function spentTwice(events: readonly RunEvent[]): string[] {
  const spent = events.flatMap((event) =>
    event.type === "answered"
      ? event.answers.map((answer) =>
          answer.kind === "approval" ? answer.approvalId : answer.callId,
        )
      : [],
  );
  const faults = spent.length === new Set(spent).size ? [] : ["an approval was spent twice"];
  const ends = events.filter(({ type }) => type === "completed").length;
  if (ends > 1) faults.push("the run ended twice");
  return faults;
}

/** Repeated under one key with the same arguments, and by a tool that says it may be: that is one act. */
function effectsTwice(effects: readonly Effect[]): string[] {
  const faults: string[] = [];
  const seen = new Map<string, Effect>();
  for (const effect of effects) {
    const before = seen.get(effect.tool);
    seen.set(effect.tool, effect);
    if (before === undefined) continue;
    if (onceOnly.has(effect.tool)) faults.push(`'${effect.tool}' ran twice`);
    if (before.key !== effect.key || before.args !== effect.args)
      faults.push(`'${effect.tool}' was asked for twice`);
  }
  return faults;
}

function acts(effects: readonly Effect[]): readonly string[] {
  return [...new Set(effects.map(({ tool, args }) => `${tool} ${args}`))].toSorted();
}
