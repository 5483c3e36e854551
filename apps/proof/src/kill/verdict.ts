/** What a process finds of a run that an earlier one was killed at, once it has taken it up and carried it to its end. */
import type { RunEvent } from "@holdpoint/flow";
import type { RunView } from "@holdpoint/workflows";

import { onceOnly } from "./effects.ts";
import type { Effect } from "./ledger.ts";
import { allTold, carryOut } from "./request.ts";
import type { Scenario, World } from "./world.ts";

/** What callers were told before the process was gone. */
export interface Heard {
  readonly runId?: string;
  readonly decided: readonly string[];
  readonly cancelled: boolean;
}

export interface Verdict {
  /** Calls that were left to somebody who knows. */
  readonly doubts: readonly string[];
  /** What is wrong; nothing, where all is as it has to be. */
  readonly faults: readonly string[];
  /** How the run ended, its output and effects, to be compared with the undisturbed run's. */
  readonly end: string;
}

export interface Request {
  readonly scenario: Scenario;
  readonly key: string;
}

/** Of a world that has taken up what was left. */
export async function recovered(
  world: World,
  { scenario, key }: Request,
  heard: Heard,
): Promise<Verdict> {
  const faults: string[] = [];
  const found = await foundOf(world, scenario, heard);
  if (found !== undefined) faults.push(...(await lostDecisions(world, found, heard.decided)));
  if (heard.cancelled && found?.status !== "cancelled") faults.push("the wish was forgotten");
  const { view, doubts } = await carryOut(world, scenario, key);
  const { runId } = view;
  if (heard.runId !== undefined && heard.runId !== runId) faults.push("the start was forgotten");
  for (const doubt of doubts) if (!onceOnly.has(doubt)) faults.push(`'${doubt}' is in doubt`);
  const effects = world.ledger.of(runId);
  const events = await eventsOf(world, scenario, runId);
  faults.push(
    ...spentTwice(events),
    ...effectsTwice(effects),
    ...(await recordsLeft(world, runId)),
  );
  faults.push(...(await untold(world, runId, events)));
  const output = await outputOf(world, scenario, view);
  const end = JSON.stringify({ status: view.status, output, effects: acts(effects) });
  return { doubts, faults, end };
}

/** Where the run stands that was begun before, once nothing is done with it any more; an errand is under way until it ends. */
async function foundOf(
  { desk, atWork }: World,
  scenario: Scenario,
  { runId }: Heard,
): Promise<RunView | undefined> {
  if (runId === undefined) return undefined;
  if (scenario === "errand") await Promise.race([desk.settled(runId), atWork.on(runId)]);
  else await desk.waitIdle();
  return desk.get(runId);
}

async function eventsOf(
  { runner, flows }: World,
  scenario: Scenario,
  runId: string,
): Promise<readonly RunEvent[]> {
  return runner.history(flows[scenario], runId);
}

/** What the run gave in the end. */
async function outputOf(
  { desk, claim, parcel }: World,
  scenario: Scenario,
  { status, runId }: RunView,
): Promise<unknown> {
  if (status !== "completed") return undefined;
  return scenario === "claim" ? desk.output(claim, runId) : desk.output(parcel, runId);
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
  const faults = spent.length === new Set(spent).size ? [] : ["an answer was spent twice"];
  const ends = events.filter(({ type }) => type === "completed" || type === "cancelled").length;
  if (ends > 1) faults.push("the run ended twice");
  return faults;
}

/** Repeated under one key with the same arguments, and by a tool that says it may be: that is one act. */
function effectsTwice(effects: readonly Effect[]): string[] {
  const faults: string[] = [];
  const byAct = new Map<string, Effect>();
  const byKey = new Map<string, Effect>();
  for (const effect of effects) {
    const { tool, args, key } = effect;
    const [act, named] = [byAct.get(`${tool} ${args}`), byKey.get(key)];
    byAct.set(`${tool} ${args}`, effect);
    byKey.set(key, effect);
    if (act !== undefined && onceOnly.has(tool)) faults.push(`'${tool}' ran twice`);
    if ((act !== undefined && act.key !== key) || (named !== undefined && named.args !== args))
      faults.push(`'${tool}' was asked for twice`);
  }
  return faults;
}

function acts(effects: readonly Effect[]): readonly string[] {
  return [...new Set(effects.map(({ tool, args }) => `${tool} ${args}`))].toSorted();
}

/** Moves that nobody was told of, and what was told and did not happen (W10). */
async function untold(
  world: World,
  runId: string,
  events: readonly RunEvent[],
): Promise<readonly string[]> {
  const { told } = world;
  if (told === undefined) return [];
  await allTold(world);
  const moves = new Set(
    events.flatMap((event, at) => kindsOf(event).map((kind) => `${runId}/${at + 1}/${kind}`)),
  );
  const heard = new Set(told.of(runId).map(({ id }) => id));
  return [
    ...[...moves].filter((id) => !heard.has(id)).map((id) => `nobody was told of ${id}`),
    ...[...heard]
      .filter((id) => !moves.has(id) && !isEndOfTime(events, id))
      .map((id) => `${id} was told and is no move`),
  ];
}

/** A time that ran out may be told as such, whether or not anybody could have said something meanwhile. */
function isEndOfTime(events: readonly RunEvent[], id: string): boolean {
  const [revision, kind] = id.split("/").slice(-2);
  return kind === "expired" && events[Number(revision) - 1]?.type === "deadline-fired";
}

function kindsOf(event: RunEvent): readonly string[] {
  switch (event.type) {
    case "paused":
      return ["waiting"];
    case "answered":
      return [
        ...new Set(
          event.answers.map((answer) =>
            answer.kind === "approval" && answer.decision.reason === "expired"
              ? "expired"
              : "decided",
          ),
        ),
      ];
    case "completed":
    case "failed":
    case "cancelled":
      return ["ended"];
    default:
      return [];
  }
}
