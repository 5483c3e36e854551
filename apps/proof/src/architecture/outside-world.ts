import type { Breach } from "./breach.ts";
import { referencesOf } from "./references.ts";
import { placeOf } from "./source-file.ts";
import type { SourceFile } from "./source-file.ts";
import { packagesOf } from "./workspace.ts";
import type { Workspace } from "./workspace.ts";

const CHANCE = [
  "Math.random",
  "crypto.randomUUID",
  "crypto.getRandomValues",
  "node:crypto.randomUUID",
  "node:crypto.randomBytes",
  "node:crypto.randomInt",
  "node:crypto.randomFill",
  "node:crypto.randomFillSync",
  "node:crypto.getRandomValues",
  "node:crypto.webcrypto",
  "@noble/hashes/utils.js.randomBytes",
];

const TIME = [
  "Date()",
  "new Date()",
  "Date.now",
  "Temporal.Now",
  "performance.now",
  "performance.timeOrigin",
  "process.hrtime",
  "process.uptime",
  "AbortSignal.timeout",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "node:timers",
  "node:timers/promises",
  "node:perf_hooks",
  "node:process.hrtime",
  "node:process.uptime",
];

const ENVIRONMENT = ["process.env", "node:process.env"];
const PRINTING = ["console", "node:console", "process.stdout", "process.stderr"];

/**
 * The file of time and chance; and, since stores take types alone from the layers, one in each store for the clock that it
 * answers `now()` by when none is given.
 */
const CLOCKS = new Set([
  "packages/approvals/src/clock.ts",
  "packages/sqlite/src/clock.ts",
  "packages/postgres/src/clock.ts",
]);
/**
 * Where chance must not be passed in, because a caller who could repeat it could read or forge: the
 * key that lasts for a process, and the cipher's nonces.
 */
const SECRET_CHANCE = new Set([
  "packages/seal/src/sealing/keyring.ts",
  "packages/seal/src/node.ts",
]);

/** ARCH-07: time and chance are passed in; one file of the packages makes them. */
export function findTimeAndChance(workspace: Workspace): Breach[] {
  return shippedFiles(workspace)
    .filter((file) => !CLOCKS.has(file.path))
    .flatMap((file) => [
      ...findUses(file, TIME, "reads time: take a Clock"),
      ...(SECRET_CHANCE.has(file.path) ? [] : findUses(file, CHANCE, "uses chance: take Ids")),
    ]);
}

/** ARCH-08: a package takes its settings as arguments and prints nothing. */
export function findEnvironmentAndPrinting(workspace: Workspace): Breach[] {
  return shippedFiles(workspace).flatMap((file) => [
    ...findUses(file, ENVIRONMENT, "reads the environment"),
    // A command line is made to print; it still takes its streams from its host.
    ...(file.path.startsWith("packages/cli/") ? [] : findUses(file, PRINTING, "prints")),
  ]);
}

function shippedFiles(workspace: Workspace): SourceFile[] {
  return packagesOf(workspace).flatMap((member) => member.source);
}

function findUses(file: SourceFile, names: readonly string[], why: string): Breach[] {
  const places = new Map<string, string>();
  for (const { name, start } of referencesOf(file)) {
    const found = names.find((each) => name === each || name.startsWith(`${each}.`));
    // One line for a place: `Date.now` and the `Date` in it are the same use.
    if (found !== undefined) places.set(`${placeOf(file, start)} ${found}`, found);
  }
  return [...places].map(([key, found]) => ({
    where: key.slice(0, key.indexOf(" ")),
    says: `${found} ${why}`,
  }));
}
