import fc from "fast-check";

import { print, stopwatch, type ProofHow } from "../command.ts";
import { block } from "./block.ts";
import { noFigures, prove, type Figures } from "./prove.ts";

/** Flows of the short form. */
const flowsQuick = 200;
/** Questions that each of them tries alone. */
export const pointsQuick = 2;
const flowsLong = 1_000;

/** `pnpm proof differential [--quick] [flows] [--seed n]`: runs that pause anywhere against the same that never do (FLOW-62). */
export async function differentialCommand(asked: ProofHow): Promise<readonly string[]> {
  const took = stopwatch();
  const { quick, times } = asked;
  const flows = times ?? (quick ? flowsQuick : flowsLong);
  const seed = asked.number("seed") ?? Date.now() % 1_000_000;
  const how = { flows, seed, points: quick ? pointsQuick : Infinity };
  print(`seed: ${seed}`);
  const { figures, faults } = await differential(how);
  const { kinds, ...counts } = figures;
  for (const [what, number] of Object.entries(counts)) print(`${what}: ${number}`);
  const sorted = [...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1));
  print(`flows with ${sorted.map(([kind, number]) => `${kind}: ${number}`).join(" · ")}`);
  print(`${faults.length} faults, ${took()}`);
  return faults;
}

/** Proves so many generated flows; the first that differs is shrunk. */
export async function differential(how: {
  readonly flows: number;
  readonly seed: number;
  readonly points: number;
}): Promise<{ readonly figures: Figures; readonly faults: readonly string[] }> {
  const { flows, seed, points } = how;
  const figures = noFigures();
  const details = await fc.check(
    fc.asyncProperty(block, fc.nat(5), async (of, luck) => {
      const found = await prove(of, { luck, points }, figures);
      if (found.length > 0) throw new Error(found.join("\n"));
    }),
    { numRuns: flows, seed },
  );
  if (!details.failed) return { figures, faults: [] };
  const [of, luck] = details.counterexample ?? [];
  const { errorInstance } = details;
  return {
    figures,
    faults: [
      `seed ${seed}, after ${details.numShrinks} shrinks, luck ${luck}: ${JSON.stringify(of)}`,
      errorInstance instanceof Error ? (errorInstance.stack ?? "") : String(errorInstance),
    ],
  };
}
