/**
 * `pnpm bench workflows [--quick] [--report FILE] [--postgres URL]`: how fast a decision resumes a run, lists and resumes beside many that wait (B7),
 * and how fast the runs of a dead process go on (B8); ours beside the floor, in turns, each commit synced. Ratios are of this process's processor time, which other work of the machine is not
 * in; a decision's way is wall time, the median and the fastest.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";

import { openPostgres } from "@holdpoint/postgres";
import { openSqlite } from "@holdpoint/sqlite";
import type { SupervisorStore } from "@holdpoint/workflows";

import { barePostgres } from "./bare-postgres.ts";
import { bareSqlite } from "./bare-sqlite.ts";
import {
  decideAndResume,
  listPage,
  recoverAll,
  runningRun,
  waitingRun,
  type Bare,
} from "./floor.ts";
import { beside, desk, leaveRunning, recover } from "./holdpoint.ts";

const quick = process.argv.includes("--quick");
const reportAt = process.argv.indexOf("--report");
const sizes = quick ? [100, 1_000] : [100, 10_000, 100_000];
const times = quick ? 20 : 60;
const rounds = quick ? 2 : 5;
/** Not counted, whosever they are: a server that decides has run for long, and code that has not is slow. */
const warmUps = quick ? 20 : 600;
const pageSize = 50;
const runsOfDead = 100;

interface Place {
  readonly name: string;
  readonly store: SupervisorStore;
  readonly bare: Bare;
  readonly budgetMs: number;
}

const lines: string[] = [];
const say = (line = ""): void => {
  lines.push(line);
  console.log(line);
};

const p50 = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1]!;
const shown = (ms: number): string => ms.toFixed(2);

/** What one piece of work took, milliseconds: by the clock, and of this process's processors. */
interface Took {
  readonly wall: number;
  readonly cpu: number;
}

async function timed(work: () => Promise<unknown>): Promise<Took> {
  const [begun, spent] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(spent);
  return { wall: performance.now() - begun, cpu: (user + system) / 1_000 };
}

type Runs = Awaited<ReturnType<Awaited<ReturnType<typeof desk>>["start"]>>;

/** A page and a decision of each in turn, over runs of each. */
async function inTurns(
  ours: Awaited<ReturnType<typeof desk>>,
  bare: Bare,
  own: Runs,
  hand: readonly string[],
) {
  const took = { page: [] as Took[], whole: [] as Took[], first: [] as number[] };
  const floor = { page: [] as Took[], whole: [] as Took[], first: [] as number[] };
  for (let at = -warmUps; at < times; at += 1) {
    const [byHand, run] = [hand[at + warmUps]!, own[at + warmUps]!];
    for (const [into, page, go] of [
      [
        floor,
        () => listPage(bare, pageSize),
        (on: () => void) => decideAndResume(bare, byHand, on),
      ],
      [took, () => ours.page(pageSize), (on: () => void) => ours.decide(run.runId, run.id, on)],
    ] as const) {
      const paged = await timed(page);
      const begun = performance.now();
      let firstMs = 0;
      const whole = await timed(() => go(() => (firstMs = performance.now() - begun)));
      if (at < 0) continue;
      into.page.push(paged);
      into.whole.push(whole);
      into.first.push(firstMs);
    }
  }
  return { floor, took };
}

/** B7, and how long a decision takes to resume its run. */
async function besideWaiting({ name, store, bare, budgetMs }: Place): Promise<void> {
  const ours = await desk(store);
  say(`\n**${name}: B7, runs that wait beside**\n`);
  const columns = ["page", "decide to end"].flatMap((what) => [`${what}: floor`, "ours", "×"]);
  say(`| waiting | ${columns.join(" | ")} | decision → first resumed event: floor | ours |`);
  say(`|${" --- |".repeat(9)}`);
  let filled = 0;
  let bareRuns = 0;
  for (const size of sizes) {
    for (; filled < size; filled += Math.min(500, size - filled)) {
      const more = Math.min(500, size - filled);
      await store.runs.commit(`fill-${filled}`, beside(filled, more));
      const rows = Array.from({ length: more }, (_, at) => waitingRun(`z-${filled + at}`, 2e15));
      await bare.commit({
        runs: rows.flatMap(({ runs = [] }) => runs),
        approvals: rows.flatMap(({ approvals = [] }) => approvals),
      });
    }
    const own = await ours.start(warmUps + times + pageSize);
    const hand = own.map(() => `run-${(bareRuns += 1)}`);
    for (const id of hand) await bare.commit(waitingRun(id, 1));
    const { floor, took } = await inTurns(ours, bare, own, hand);
    const cells = [
      size.toLocaleString("en"),
      ...pair(floor.page, took.page),
      ...pair(floor.whole, took.whole),
      way(floor.first),
      `${way(took.first)}, of ${budgetMs}`,
    ];
    say(`| ${cells.join(" | ")} |`);
  }
  await ours.end();
}

/** Processor time of one, on the average of all. */
function mean(list: readonly Took[]): number {
  return list.reduce((sum, { cpu }) => sum + cpu, 0) / list.length;
}

function pair(floor: readonly Took[], own: readonly Took[]): readonly string[] {
  const [base, mine] = [mean(floor), mean(own)];
  return [`${shown(base)} ms`, `${shown(mine)} ms`, (mine / base).toFixed(1)];
}

function way(wall: readonly number[]): string {
  return `p50 ${shown(p50(wall))} ms, fastest ${shown(Math.min(...wall))}`;
}

/** B8: from the moment that the dead process's lease has lapsed. */
async function afterDeath({ name, store, bare }: Place): Promise<void> {
  const [floor, own]: [Took[], Took[]] = [[], []];
  for (let round = -1; round < rounds; round += 1) {
    const session = `dead-${round + 1}`;
    await leaveRunning(store, session, runsOfDead);
    const mine = await timed(() => recover(store, session, runsOfDead));
    for (let at = 0; at < runsOfDead; at += 1) await bare.commit(runningRun(`${session}-${at}`));
    const base = await timed(() => recoverAll(bare, async () => undefined));
    if (round < 0) continue; // a warm-up
    own.push(mine);
    floor.push(base);
  }
  const walls = [floor, own].map((list) => p50(list.map(({ wall }) => wall)));
  const [base, mine] = [mean(floor), mean(own)];
  say(`\n**${name}: B8, ${runsOfDead} running runs of a dead process**\n`);
  say("| | floor | ours | throughput ÷ floor |\n| --- | --- | --- | --- |");
  say(`| processor time | ${shown(base)} ms | ${shown(mine)} ms | ${(base / mine).toFixed(2)} |`);
  const [baseWall = 0, mineWall = 0] = walls;
  say(
    `| wall time, p50 | ${shown(baseWall)} ms | ${shown(mineWall)} ms | ${(baseWall / mineWall).toFixed(2)} |`,
  );
}

const folder = mkdtempSync(join(tmpdir(), "holdpoint-bench-"));
const sqlite = openSqlite(join(folder, "ours.db"));
const places: Place[] = [
  { name: "SQLite", store: sqlite, bare: bareSqlite(join(folder, "bare.db")), budgetMs: 20 },
];
/** Of an empty database; `pnpm bench` starts a server for it. Without one there are figures of SQLite alone. */
const postgresAt = process.argv.indexOf("--postgres");
const url = postgresAt > 0 ? process.argv[postgresAt + 1] : undefined;
const postgres = url === undefined ? undefined : await openPostgres(url, { schema: "ours" });
if (url !== undefined && postgres !== undefined) {
  const bare = await barePostgres(url, "bare");
  places.push({ name: "Postgres", store: postgres, bare, budgetMs: 50 });
}
const [load] = loadavg();
try {
  for (const place of places) {
    await afterDeath(place);
    await besideWaiting(place);
  }
} finally {
  sqlite.close();
  await postgres?.close();
  for (const { bare } of places) await bare.close();
  rmSync(folder, { recursive: true, force: true });
}
if (reportAt > 0) {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "?"}, Node ${process.version}, load ${load!.toFixed(0)} at its beginning`;
  const head = `# Workflow benches, on stores\n\n${new Date().toISOString().slice(0, 10)} · ${machine} · ours and the floor in turns, each commit synced; pages and ways to the end are processor time of this process.\nCommand: \`pnpm bench workflows --report docs/reports/workflows-bench.md\`\n`;
  writeFileSync(process.argv[reportAt + 1]!, `${head}${lines.join("\n")}\n`);
}
