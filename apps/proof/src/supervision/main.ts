/**
 * Counts stale writes of zombies: `node --conditions=@holdpoint/source apps/proof/src/supervision/main.ts [--long]`. 50 of them
 * as in the tests, or 1,000. Ends with 1 where a single stale write was taken.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

import { zombies } from "./zombies.ts";

const wanted = process.argv.includes("--long") ? 1_000 : 50;
const folder = mkdtempSync(join(tmpdir(), "holdpoint-zombies-"));
try {
  const found = await zombies(folder, { wanted, sessions: 10 });
  const { zombies: made, accepted, refused, stale } = found;
  console.log(
    `${made} zombies, ${accepted} writes of owners taken, ${refused} of others refused, ${stale.length} stale ones taken`,
  );
  process.exitCode = stale.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
