import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { print, type ProofHow } from "../command.ts";
import { plantedBugs } from "./planted.ts";
import { huntFor } from "./planting.ts";

/** Worlds within which each planted bug has to be found. */
const seedsDefault = 1_000;

/** `pnpm proof planted [--seeds n]`: whether the simulator finds bugs that are put into a copy of the product. */
export async function plantedCommand(how: ProofHow): Promise<readonly string[]> {
  const seeds = how.number("seeds") ?? seedsDefault;
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-planted-"));
  const missed: string[] = [];
  try {
    for (const bug of plantedBugs) {
      const found = await huntFor(bug, { folder, seeds });
      if (found === undefined) missed.push(`not found in ${seeds} worlds: ${bug.name}`);
      print(
        `${bug.name}: ${found === undefined ? "not found" : `seed ${found.seed}, ${found.fault}`}`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return missed;
}
