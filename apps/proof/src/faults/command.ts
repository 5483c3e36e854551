/**
 * `pnpm proof faults`: every call of the driver fails in turn, for a whole run, until there is none left to fail (P16). What
 * comes out has to be what comes out undisturbed, without a process having ended.
 */
import { rmSync } from "node:fs";

import { failAt, type DriverFaultKind } from "@holdpoint/testing";

import { folderFor } from "../child-process.ts";
import { print, stopwatch, type ProofHow } from "../command.ts";
import type { Told } from "../kill/dying.ts";
import type { Layout } from "../kill/places.ts";
import { carryOut } from "../kill/request.ts";
import { recovered, type Verdict } from "../kill/verdict.ts";
import { scenarios, worldIn, type Scenario } from "../kill/world.ts";

const kinds: readonly DriverFaultKind[] = ["busy", "io", "full", "lost-answer"];
/** In the quick form: every so many calls, and each time another kind. */
const quickStride = 11;
const onFiles: readonly Layout[] = ["sqlite", "sqlite-apart"];

/** What came of all runs that met a fault. */
export interface Met {
  readonly runs: number;
  readonly inDoubt: number;
  readonly faults: readonly string[];
}

export async function faultsCommand({ quick }: ProofHow): Promise<readonly string[]> {
  const took = stopwatch();
  const { runs, inDoubt, faults } = await failEverywhere(quick ? quickStride : 1);
  print(`${runs} runs with a fault, ${inDoubt} left in doubt, ${faults.length} faults, ${took()}`);
  return faults;
}

/** Fails every `stride`th call: each by every kind of fault, or, where some are left out, by one after the other. */
export async function failEverywhere(
  stride: number,
  layouts: readonly Layout[] = onFiles,
): Promise<Met> {
  const faults: string[] = [];
  let runs = 0;
  let inDoubt = 0;
  for (const run of runsOf(layouts)) {
    const { end } = await faulted(run, undefined);
    for (let call = 1; ; call += stride) {
      const turn = stride === 1 ? kinds : [kinds[Math.floor(call / stride) % kinds.length]!];
      const found = await Promise.all(turn.map((kind) => faulted(run, { call, kind })));
      if (found.every(({ struck }) => !struck)) break;
      for (const { kind, verdict, end: came } of found) {
        runs += 1;
        inDoubt += (verdict?.doubts.length ?? 0) > 0 ? 1 : 0;
        const where = `${run.layout}, ${run.scenario}, ${kind} at call ${call}`;
        if (verdict === undefined) faults.push(`${where}: ${came}`);
        else faults.push(...verdict.faults.map((fault) => `${where}: ${fault}`));
        if (verdict !== undefined && came !== end) faults.push(`${where}: ends ${came}`);
      }
    }
  }
  return { runs, inDoubt, faults };
}

interface Found {
  readonly kind: DriverFaultKind | undefined;
  readonly struck: boolean;
  readonly verdict: Verdict | undefined;
  readonly end: string;
}

interface FaultedRun {
  readonly layout: Layout;
  readonly scenario: Scenario;
}

function runsOf(layouts: readonly Layout[]): readonly FaultedRun[] {
  return layouts.flatMap((layout) => scenarios.map((scenario) => ({ layout, scenario })));
}

/** A run whose n-th call of the driver fails, carried on in the same process, and then read by another. */
async function faulted(
  { layout, scenario }: FaultedRun,
  fault: { readonly call: number; readonly kind: DriverFaultKind } | undefined,
): Promise<Found> {
  const folder = folderFor("faults");
  const told: Told[] = [];
  const how = { folder, layout, supervised: false, aheadMs: 0 };
  const world = await worldIn(how, (line) => void told.push(line));
  const strike = fault && failAt(fault.call, fault.kind);
  if (strike !== undefined) world.dying.strike = strike;
  try {
    await carryOut(world, scenario, "one").catch(() => undefined);
    if (scenario !== "errand") await world.desk.waitIdle(); // that one goes on until it is called off
    world.dying.disarm();
    await world.takeUp();
    const verdict = await recovered(world, { scenario, key: "one" }, heardIn(told));
    return { kind: fault?.kind, struck: strike?.struck ?? false, verdict, end: verdict.end };
  } catch (error) {
    return {
      kind: fault?.kind,
      struck: strike?.struck ?? false,
      verdict: undefined,
      end: String(error),
    };
  } finally {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function heardIn(told: readonly Told[]) {
  const decided = told.flatMap((line) => (line.told === "decided" ? [line.approvalId] : []));
  const started = told.find((line) => line.told === "started");
  const cancelled = told.some((line) => line.told === "cancelled");
  return { decided, cancelled, ...(started?.told === "started" && { runId: started.runId }) };
}
