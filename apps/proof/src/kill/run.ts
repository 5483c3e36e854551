/**
 * The kill proof (P2): a process is killed at a point, the next one takes up what it left and is killed at the next point.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { killHouse } from "./house-run.ts";
import { pointsOf, sampled, momentOf, type NamedPoint } from "./points.ts";
import { bundled, runChild, type Ended } from "../child-process.ts";
import { Tally } from "./tally.ts";
import type { Verdict } from "./verdict.ts";
import type { Told } from "./dying.ts";
import type { Layout } from "./world.ts";

export interface KillHow {
  readonly quick: boolean;
  readonly repeats: number;
  /** Processes side by side, each chain in a folder of its own. */
  readonly chains: number;
}

/** Kills at every point and says what was found. */
export async function killEverywhere(how: KillHow): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-kill-"));
  try {
    const program = bundled(join(import.meta.dirname, "child.ts"), folder);
    const tally = new Tally();
    const seen = new Set<string>();
    for (const layout of ["together", "apart"] as const) {
      const start = (): string => mkdtempSync(join(folder, `${layout}-`));
      const { points, end } = await undisturbed(program, start(), layout);
      const all = how.quick ? sampled(points, seen) : points;
      const queue = Array.from({ length: how.repeats }, () => all).flat();
      tally.expect(layout, end);
      await Promise.all(
        Array.from({ length: how.chains }, () =>
          killChain(program, { start, layout, queue, tally }),
        ),
      );
    }
    await killHouse({ folder, quick: how.quick, tally });
    return tally;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A run that nobody disturbs: the points that there are, and how it ends. */
async function undisturbed(program: string, folder: string, layout: Layout) {
  const ran = await child(program, { folder, layout, begin: { key: "calm" } });
  if (ran.code !== 0) throw new Error(`the undisturbed run: ${ran.errors}`);
  const job = { folder, layout, recover: { key: "calm", heard: heardIn(ran.lines) } };
  const verdict = verdictIn(await child(program, job));
  if (verdict === undefined || verdict.faults.length > 0 || verdict.status !== "completed")
    throw new Error(`the undisturbed run: ${JSON.stringify(verdict)}`);
  return { points: pointsOf(ran.lines), end: verdict.end.replaceAll("calm", "KEY") };
}

interface ChainHow {
  readonly start: () => string;
  readonly layout: Layout;
  readonly queue: NamedPoint[];
  readonly tally: Tally;
}

/** More runs in one folder make its lists longer, and each is of a folder's age. */
const runsPerFolder = 40;

async function killChain(program: string, how: ChainHow): Promise<void> {
  const { start, layout, queue, tally } = how;
  let victim: { key: string; named: NamedPoint; lines: readonly Told[] } | undefined;
  let folder = start();
  for (let number = 1; ; number += 1) {
    const named = number % runsPerFolder === 0 ? undefined : queue.pop();
    if (named === undefined && victim === undefined && queue.length === 0) return;
    const key = `r${number}`;
    const ended = await child(program, {
      folder,
      layout,
      ...(victim && { recover: { key: victim.key, heard: heardIn(victim.lines) } }),
      ...(named && { begin: { key, point: named.point } }),
    });
    if (victim !== undefined) {
      const verdict = verdictIn(ended);
      tally.add({
        layout,
        names: victim.named.names,
        moment: momentOf(victim.named.point),
        key: victim.key,
        verdict,
        errors: ended.errors,
      });
    }
    if (named !== undefined && !ended.killed)
      tally.fail(`${layout} ${JSON.stringify(named)}: not killed there: ${ended.errors}`);
    victim = named && ended.killed ? { key, named, lines: ended.lines } : undefined;
    if (named === undefined) folder = start();
  }
}

function child(program: string, job: unknown): Promise<Ended<Told>> {
  return runChild<Told>(program, job);
}

/** What a killed process had told of the run that it was killed at; before its verdict it spoke of the one before. */
function heardIn(told: readonly Told[]) {
  const lines = told.slice(told.findIndex((line) => line.told === "verdict") + 1);
  const decided = lines.flatMap((line) => (line.told === "decided" ? [line.approvalId] : []));
  const started = lines.find((line) => line.told === "started");
  return { decided, ...(started?.told === "started" && { runId: started.runId }) };
}

function verdictIn({ lines }: Ended<Told>): Verdict | undefined {
  const line = lines.find(({ told }) => told === "verdict");
  return line?.told === "verdict" ? (line.verdict as Verdict) : undefined;
}
