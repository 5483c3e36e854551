import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { buildSync } from "esbuild";

/** How a child process ended, with every line that it told before. */
export interface Ended<Line> {
  readonly lines: readonly Line[];
  readonly killed: boolean;
  readonly code: number | null;
  readonly errors: string;
}

/**
 * A new folder for what processes leave behind when they are killed: in memory, where the system has such a place. A killed
 * process loses nothing that the system has, on a disk or not, and a slow disk would be most of the time that a proof takes.
 */
export function folderFor(name: string): string {
  return mkdtempSync(join(inMemory() ?? tmpdir(), `holdpoint-${name}-`));
}

function inMemory(): string | undefined {
  try {
    accessSync("/dev/shm", constants.W_OK);
    return "/dev/shm";
  } catch {
    return undefined;
  }
}

/** One file of a program, from the packages' sources: a process of it starts in a fraction of the time. */
export function bundled(entry: string, folder: string): string {
  const outfile = join(folder, `${entry.split("/").at(-1)!.replace(/\.ts$/, "")}.mjs`);
  buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node22",
    conditions: ["@holdpoint/source"],
    external: ["pg-native"], // a driver that is asked for and need not be there
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return outfile;
}

/** Most processes end before they would have collected anything. */
const youngHeap = "--max-semi-space-size=64";

/** Runs a program with one job to its end, whatever that is. */
export async function runChild<Line>(program: string, job: unknown): Promise<Ended<Line>> {
  const child = spawn(process.execPath, [youngHeap, program, JSON.stringify(job)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: join(dirname(program), "compiled") },
  });
  let out = "";
  let errors = "";
  child.stdout.on("data", (chunk: Buffer) => void (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => void (errors += chunk.toString()));
  await once(child, "close");
  const lines = out
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
  const { exitCode: code, signalCode } = child;
  return { lines, killed: signalCode === "SIGKILL", code, errors };
}
