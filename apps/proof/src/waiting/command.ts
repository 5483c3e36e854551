/**
 * `pnpm proof waiting`: what a file, and a schema of a server, with 100,000 waiting runs costs: a page of what waits, a decision
 * and the resume by it; and that each statement of all that is bound to an index (P9).
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { approve } from "@holdpoint/flow";
import { openSqlite } from "@holdpoint/sqlite";
import { struckHandle, verified } from "@holdpoint/testing";
import { Workflows } from "@holdpoint/workflows";

import { print, stopwatch, type ProofHow } from "../command.ts";
import { filledSchema } from "./on-server.ts";
import { keyring, orders } from "./orders.ts";
import { unboundSteps } from "./plans.ts";

const samples = 200;
/** P9: how much more what is done beside all that waits may take than alone, in the middle of the samples. */
const ratioMax = 2;

export async function waitingCommand(how: ProofHow): Promise<readonly string[]> {
  const faults = await onFiles(how);
  return [...faults, ...(await onServer(how))];
}

async function onFiles({ quick, times = 100_000 }: ProofHow): Promise<readonly string[]> {
  const took = stopwatch();
  const waiting = quick ? 2_000 : times;
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-waiting-"));
  try {
    const alone = await measured(join(folder, "empty.db"), 0);
    const beside = await measured(join(folder, "full.db"), waiting);
    const faults = [...beside.unbound, ...late(alone, beside)];
    for (const [name, of] of [
      ["alone", alone],
      [`beside ${waiting} waiting`, beside],
    ] as const) {
      print(
        `a file, ${name}: page ${shown(of.page)}, decide and resume ${shown(of.resume)}, of that in COMMIT ${shown(of.commit)}`,
      );
    }
    print(
      `${beside.megabytes} MB in the file, ${beside.grownMb} MB more in memory after it was opened`,
    );
    print(`${beside.statements} statements, ${faults.length} faults, ${took()}`);
    return quick ? beside.unbound : faults;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In turns, so that what else the machine does meets both. */
async function onServer({
  quick,
  times = 100_000,
  startServer,
}: ProofHow): Promise<readonly string[]> {
  const took = stopwatch();
  const waiting = quick ? 2_000 : times;
  const server = await startServer({ sync: true });
  try {
    const sides = [await filledSchema(server.url, 0), await filledSchema(server.url, waiting)];
    const resumes = sides.map((): number[] => []);
    const pages = sides.map((): number[] => []);
    const by = await verified("dana");
    for (let at = 0; at < samples; at += 1) {
      for (const [side, { desk, page }] of sides.entries()) {
        pages[side]!.push(await page());
        const { runId } = await desk.start("orders", { order: `sample-${at}` });
        const { waitsFor } = await desk.settled(runId);
        await clocked(resumes[side]!, async () => {
          await desk.decide(waitsFor[0]!.id, approve({ by }));
          const { status } = await desk.settled(runId);
          if (status !== "completed") throw new Error(`run ${runId} is ${status}`);
        });
      }
    }
    for (const [side, name] of ["alone", `beside ${waiting} waiting`].entries())
      print(
        `a server, ${name}: page ${shown(pages[side]!)}, decide and resume ${shown(resumes[side]!)}`,
      );
    print(took());
    for (const { close } of sides) await close();
    const faults = late({ resume: resumes[0]! }, { resume: resumes[1]! });
    return quick ? [] : faults;
  } finally {
    await server.stop();
  }
}

type Measured = Awaited<ReturnType<typeof measured>>;

function late(
  alone: Pick<Measured, "resume">,
  beside: Pick<Measured, "resume">,
): readonly string[] {
  const ratio = quantile(beside.resume, 0.5) / quantile(alone.resume, 0.5);
  if (ratio <= ratioMax) return [];
  return [`a decision with its resume takes ${ratio.toFixed(1)} times as long as alone`];
}

/** Fills a file with waiting runs, then decides and resumes others beside them. */
async function measured(path: string, waiting: number) {
  await fill(path, waiting);
  const before = memory();
  const handle = new DatabaseSync(path);
  const statements = new Set<string>();
  let [begun, committing] = [0, 0];
  const strike = {
    before: (sql: string) => {
      statements.add(sql);
      begun = performance.now();
    },
    after: (sql: string) => {
      if (sql === "COMMIT") committing += performance.now() - begun;
    },
  };
  const store = openSqlite(struckHandle(handle, strike));
  statements.clear();
  const desk = new Workflows({ store, definitions: [orders], keyring });
  const grownMb = Math.round((memory() - before) / 1e6);
  const page: number[] = [];
  const resume: number[] = [];
  const commit: number[] = [];
  const by = await verified("dana");
  for (let at = 0; at < samples; at += 1) {
    const { runId } = await desk.start("orders", { order: `sample-${at}` });
    const { waitsFor } = await desk.settled(runId);
    await clocked(page, () => desk.list({ filter: { status: "interrupted" } }));
    committing = 0;
    await clocked(resume, async () => {
      await desk.decide(waitsFor[0]!.id, approve({ by }));
      const { status } = await desk.settled(runId);
      if (status !== "completed") throw new Error(`run ${runId} is ${status}`);
    });
    commit.push(committing);
  }
  const unbound = unboundSteps(handle, statements);
  store.close();
  handle.close();
  const megabytes = Math.round(statSync(path).size / 1e6);
  return { page, resume, commit, unbound, statements: statements.size, megabytes, grownMb };
}

/** Waiting runs, made as any others are; only their disk is not waited for. */
async function fill(path: string, waiting: number): Promise<void> {
  const handle = new DatabaseSync(path);
  const store = openSqlite(handle);
  handle.exec("PRAGMA synchronous = OFF");
  const desk = new Workflows({ store, definitions: [orders], keyring });
  for (let from = 0; from < waiting; from += 100) {
    const batch = Math.min(100, waiting - from);
    await Promise.all(
      Array.from({ length: batch }, (_, at) =>
        desk.start("orders", { order: `order-${from + at}` }),
      ),
    );
    await desk.waitIdle();
  }
  handle.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  handle.close();
}

function memory(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function clocked(into: number[], work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  await work();
  into.push(performance.now() - began);
}

function quantile(of: readonly number[], part: number): number {
  return of.toSorted((a, b) => a - b)[Math.floor(of.length * part)] ?? 0;
}

function shown(of: readonly number[]): string {
  return `p50 ${quantile(of, 0.5).toFixed(1)} ms, p99 ${quantile(of, 0.99).toFixed(1)} ms`;
}
