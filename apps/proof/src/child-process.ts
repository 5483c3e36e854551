import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { buildSync } from "esbuild";

/** How a child process ended, with every line that it told before. */
export interface Ended<Line> {
  readonly lines: readonly Line[];
  readonly killed: boolean;
  readonly code: number | null;
  readonly errors: string;
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
    logLevel: "error",
  });
  return outfile;
}

/** Runs a program with one job to its end, whatever that is. */
export async function runChild<Line>(program: string, job: unknown): Promise<Ended<Line>> {
  const child = spawn(process.execPath, [program, JSON.stringify(job)], {
    stdio: ["ignore", "pipe", "pipe"],
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
