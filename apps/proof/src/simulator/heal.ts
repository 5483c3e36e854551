/**
 * When nothing goes wrong any more: callers start again what they heard nothing of, a process takes up what is left, people
 * answer, and every run ends (I10).
 */
import type { Row } from "@holdpoint/approvals";

import type { LogBook } from "./books/log-book.ts";
import { leaseMs } from "./desk-of-supervisors.ts";
import { minuteMs } from "./flows/tools.ts";
import { agreed, type Name } from "./people.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/** More rounds than any run has stops. */
const roundsMax = 40;
/** Rounds without anything new on record: nobody gets any further. */
const idleMax = 3;
const stepsMax = 5_000;

/** Whether every run has come to its end, with what is wrong if not. */
export async function heal(world: World): Promise<boolean> {
  world.rough = false;
  world.putStoreClockRight();
  world.trace.add("world", "nothing goes wrong from here on");
  for (const process of world.living) process.stalled = false;
  if (world.chance.happens(0.5)) for (const process of world.living) process.die();
  if (!(await drained(world))) return false;
  const unheard = new Set(world.asked);
  let idle = 0;
  for (let round = 0; round < roundsMax; round += 1) {
    if (allOver(world)) return true;
    const before = recorded(world);
    const process = world.living[0] ?? world.boot(0);
    if (!(await lookedAfter(world, process, unheard))) return false;
    idle = recorded(world) === before ? idle + 1 : 0;
    if (idle >= idleMax) break;
  }
  const left = world.runIds.filter((runId) => !isOver(world, runId));
  world.faults.push(...left.map((runId) => `run ${runId} is stranded: ${standing(world, runId)}`));
  return false;
}

/**
 * One round: callers start what they heard nothing of, what ran out is swept, the process takes up what is there, and once all
 * is at rest people answer what they see.
 */
async function lookedAfter(world: World, process: Process, unheard: Set<string>): Promise<boolean> {
  const { desk } = process;
  for (const id of unheard) world.start(process, id, () => unheard.delete(id));
  if (desk.begin === undefined) world.ask(process, "sweep", () => desk.sweep());
  if (!(await atRest(world))) return false;
  world.takeUp(
    process,
    world.runIds.filter((runId) => !isOver(world, runId)),
  );
  if (!(await drained(world))) return false;
  const pending = Array.from(world.book.approvals.values()).filter(isPending);
  for (const { key, values } of pending) {
    for (const who of ["dana", "erik"] as const) {
      if (world.book.approvals.get(key)?.values["state"] !== "pending") break;
      answer(world, process, { id: key, tool: String(values["tool"]), who });
      if (!(await atRest(world))) return false;
    }
  }
  return answered(world);
}

/** What is asked beside approvals is answered, by whichever process has the run; what sleeps gets its time. */
async function answered(world: World): Promise<boolean> {
  const isOpen = (id: string): boolean =>
    world.askings.some(({ asking, isOpen: open }) => open && asking.id === id);
  const open = world.askings.filter((asked) => asked.isOpen);
  for (const process of world.living) {
    for (const { runId, asking } of open) {
      if (asking.kind !== "interrupt" || !isOpen(asking.id)) continue;
      world.answer(process, runId, asking.id);
      if (!(await atRest(world))) return false;
    }
    for (const doubt of world.doubts) {
      world.resolve(process, doubt);
      if (!(await atRest(world))) return false;
    }
  }
  if (open.some(({ asking }) => asking.kind === "sleep")) world.time.pass(10 * minuteMs);
  return true;
}

function isPending({ values }: Row): boolean {
  return values["state"] === "pending";
}

function answer(
  world: World,
  process: Process,
  { id, tool, who }: { id: string; tool: string; who: Name },
): void {
  const how = { id, decision: agreed(tool, who), attemptId: `heal-${world.trace.length}` };
  world.ask(process, `${who} decides ${tool} ${id.slice(0, 6)}`, () => process.desk.decide(how));
}

/** Lets everything happen that waits for nothing but its turn. */
function atRest(world: World): Promise<boolean> {
  return passed(world, 0);
}

/** Lets everything that waits happen, and time pass for what waits for it. */
function drained(world: World): Promise<boolean> {
  return passed(world, (world.profile.mode === "supervisor" ? 2 : 1) * leaseMs);
}

async function passed(world: World, ms: number): Promise<boolean> {
  const until = world.time.elapsed + ms;
  for (let steps = 0; steps < stepsMax; steps += 1) {
    const next = world.choose();
    if (next !== undefined && steps > 500 && allOver(world)) return true; // what goes on is no run's
    if (next !== undefined) {
      if (!(await world.step(next))) return false;
      continue;
    }
    const untilNext = world.time.untilNext();
    if (untilNext === undefined || world.time.elapsed + untilNext > until) return true;
    world.time.pass(untilNext);
  }
  world.faults.push("the world does not come to rest");
  return false;
}

function allOver(world: World): boolean {
  return world.runIds.every((runId) => isOver(world, runId));
}

function isOver(world: World, runId: string): boolean {
  const log = world.book.log(runId);
  const row = world.book.runs.get(runId);
  const registered = row?.values["status"];
  if (registered === "cancelled" && log.status === "none") return true;
  return log.ended && (row === undefined || registered === log.status);
}

function standing(world: World, runId: string): string {
  const log: LogBook = world.book.log(runId);
  const row = world.book.runs.get(runId);
  const registry = row === undefined ? "" : `, its registry ${String(row.values["status"])}`;
  return `its log says ${log.status} after ${log.events.length} entries${registry}`;
}

/** A figure that grows with everything that is put on record. */
function recorded({ book }: World): number {
  let sum = 0;
  for (const { events } of book.logs.values()) sum += events.length;
  for (const { version } of book.approvals.values()) sum += version;
  for (const { version } of book.runs.values()) sum += version;
  return sum;
}
