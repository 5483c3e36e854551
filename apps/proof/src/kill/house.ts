// One process of the kill proof around what is done to a whole store: it is brought up at opening, and old runs are taken out.
import { approve } from "@holdpoint/flow";
import { crashAt, verified, type CrashPoint, type Strike } from "@holdpoint/testing";
import { Retention, Workflows } from "@holdpoint/workflows";

import { keyring, orders } from "../waiting/orders.ts";
import { housed } from "./housing.ts";
import type { Place } from "./places.ts";
import { tell } from "./world.ts";

export interface HouseJob {
  readonly place: Place;
  /** `fill`: two runs that end and one that waits. `purge`: takes out what has ended. `check`: says what is wrong. */
  readonly does: "open" | "fill" | "purge" | "check";
  readonly point?: CrashPoint;
}

const job = JSON.parse(process.argv[2] ?? "{}") as HouseJob;
const strike = crashAt(job.point ?? { commit: 0, moment: "before" }, () =>
  process.kill(process.pid, "SIGKILL"),
);
// Opening is struck where it is what is looked at; else what comes after it.
let around: Strike = { before: () => undefined, after: () => undefined };
if (job.does === "open") around = strike;
const house = await housed(job.place, {
  before: (sql, binds) => around.before(sql, binds),
  after: (sql) => around.after(sql),
});
around = strike;
const { store } = house;
const desk = new Workflows({ store, definitions: [orders], keyring });

async function fill(): Promise<void> {
  const by = await verified("dana");
  for (const order of ["one", "two", "three"]) {
    const { runId } = await desk.start("orders", { order }, { key: order });
    const { waitsFor } = await desk.settled(runId);
    if (order !== "three") await desk.decide(waitsFor[0]!.id, approve({ by }));
    await desk.settled(runId);
  }
}

async function purge(): Promise<void> {
  const clock = { now: () => Date.now() + 1_000, monotonic: () => 0, timer: () => () => undefined };
  const retention = new Retention({ store, removal: store.removal, keyring, clock });
  while ((await retention.purge({ olderThanMs: 0, runsMax: 1 })).more);
}

/** After a purge that a process was killed in, and the one that followed it. */
async function faults(): Promise<readonly string[]> {
  await purge();
  const found: string[] = [];
  const { items } = await desk.list();
  if (items.length !== 1 || items[0]?.status !== "interrupted")
    found.push(`${items.length} runs are left`);
  for (const table of house.tables) {
    const rows = await house.count(table);
    if (rows !== 1) found.push(`${rows} rows are left in ${table}`);
  }
  const waiting = items[0];
  if (waiting !== undefined) {
    await desk.decide(waiting.waitsFor[0]!.id, approve({ by: await verified("dana") }));
    const { status } = await desk.settled(waiting.runId);
    if (status !== "completed") found.push(`what waited is ${status}`);
  }
  return found;
}

if (job.does === "fill") await fill();
if (job.does === "purge") {
  await purge();
  tell({ told: "purged", commits: strike.commits });
}
if (job.does === "check") tell({ told: "house", faults: await faults() });
if (job.does === "open") tell({ told: "opened", calls: strike.calls, state: await house.state() });
await house.close();
