import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { Order, Said } from "./order.ts";

/** A supervisor's process, and what it said so far. */
export function supervising(order: Order) {
  const program = fileURLToPath(new URL("worker.ts", import.meta.url));
  const child = spawn(
    process.execPath,
    ["--conditions=@holdpoint/source", program, JSON.stringify(order)],
    { stdio: ["pipe", "ignore", "inherit"] },
  );
  const exited = once(child, "exit");
  return {
    said: (): readonly Said[] => linesOf(order.saidFile).map((line) => JSON.parse(line) as Said),
    stop: () => void child.kill("SIGSTOP"),
    wake: () => void child.kill("SIGCONT"),
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** The whole lines of a file that another process writes. */
export function linesOf(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").split("\n").slice(0, -1);
}

/** Waits for what other processes bring about. @throws where it does not come within `ms` */
export async function until(
  what: string,
  ms: number,
  holds: () => boolean | Promise<boolean>,
): Promise<number> {
  const begun = Date.now();
  while (!(await holds())) {
    if (Date.now() - begun > ms) throw new Error(`${what} did not come within ${ms} ms`);
    await setTimeout(10);
  }
  return Date.now() - begun;
}
