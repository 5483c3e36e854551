/**
 * Many runs at work in one process, which is killed; others share its sessions and finish them. What they did is read from the
 * lines that their tools left, so that no fault here depends on who was how fast.
 */
import { join } from "node:path";

import { stepsOfRun } from "./journey.ts";
import type { Order, Place } from "./order.ts";
import { linesOf, supervising, until } from "./process.ts";
import { storeAt, type OpenStore } from "./store.ts";

export interface Killing {
  readonly place: Place;
  /** Where the processes leave their lines. */
  readonly folder: string;
  readonly sessions: number;
  readonly runsOfSession: number;
  /** Processes that are left; together they may have each session, and none of them all where there are several. */
  readonly others: number;
  readonly leaseMs: number;
  readonly pollMs: number;
}

export interface Killed {
  readonly runs: number;
  /** Owners of sessions in the end. */
  readonly owners: number;
  /** From the kill until each session had another owner, and until each run had ended. */
  readonly takenMs: number;
  readonly doneMs: number;
  /** Calls that were under way when their process died, and were made again under their keys. */
  readonly madeAgain: number;
  readonly faults: readonly string[];
}

/** A bound for what hangs, not a measure of speed. */
const hangsMs = 240_000;
/** The call that the first process never comes back from. */
const holdAt = 3;

export async function killOneOf(how: Killing): Promise<Killed> {
  const { place, folder, others: count, leaseMs, pollMs } = how;
  const sessions = Array.from({ length: how.sessions }, (_, at) => `desk-${at}`);
  const runs = how.sessions * how.runsOfSession;
  const order: Order = {
    place,
    effectsFile: join(folder, "effects"),
    saidFile: join(folder, "one"),
    sessions,
    startIn: sessions,
    runs: how.runsOfSession,
    workers: Math.min(256, runs),
    leaseMs,
    pollMs,
    stepMs: 1,
    storms: false,
    clocks: "run",
  };
  const sessionsMax = Math.ceil(how.sessions / count);
  const store = await storeAt(place);
  const one = supervising({ ...order, holdAt });
  const all = [one];
  try {
    await until("the first process", hangsMs, () => one.said().length > 0);
    const others = Array.from({ length: count }, (_, at) =>
      supervising({ ...order, sessionsMax, saidFile: join(folder, `other-${at}`), startIn: [] }),
    );
    all.push(...others);
    await until("the others", hangsMs, () => others.every((other) => other.said().length > 0));
    const held = () => linesOf(order.effectsFile).filter((line) => line.endsWith(` ${holdAt}`));
    await until("every run at its held call", hangsMs, () => new Set(held()).size === runs);
    await one.kill();
    const begun = Date.now();
    await until("other owners", hangsMs, async () => (await epochsOf(store)).every((e) => e > 1));
    const takenMs = Date.now() - begun;
    await until("the end of all", hangsMs, async () => {
      const rows = await rowsIn(store);
      return rows.length === runs && rows.every(({ values }) => values["status"] === "completed");
    });
    const doneMs = Date.now() - begun;
    const owners = (await leasesIn(store)).map(({ values }) => values["owner"]);
    const runIds = (await rowsIn(store)).map(({ key }) => key);
    const { faults, madeAgain } = judged(runIds, linesOf(order.effectsFile));
    return { runs, owners: new Set(owners).size, takenMs, doneMs, madeAgain, faults };
  } finally {
    await Promise.all(all.map((each) => each.kill()));
    await store.close();
  }
}

const leasesIn = (store: OpenStore) => store.leases.list("default", { limit: 500 });

async function epochsOf(store: OpenStore): Promise<readonly number[]> {
  return (await leasesIn(store)).map(({ values }) => Number(values["epoch"]));
}

const rowsIn = (store: OpenStore) =>
  store.runs.list("default", {}, { order: "oldest", limit: 500 });

/**
 * A call's end is on record before the next call of its run begins, so an effect behind one of a later call is one of a call that
 * was journaled. Lines of all processes stand in the order in which they were written.
 */
function judged(
  runIds: readonly string[],
  lines: readonly string[],
): Pick<Killed, "faults" | "madeAgain"> {
  const calls = new Map(runIds.map((runId) => [runId, [] as number[]]));
  for (const [runId = "", at] of lines.map((line) => line.split(" "))) {
    calls.get(runId)?.push(Number(at));
  }
  const faults: string[] = [];
  for (const [runId, made] of calls) {
    const isInOrder = made.every((at, place) => place === 0 || made[place - 1]! <= at);
    if (!isInOrder || new Set(made).size !== stepsOfRun)
      faults.push(`${runId} made its calls as ${made.join(", ")}`);
  }
  return { faults, madeAgain: lines.length - runIds.length * stepsOfRun };
}
