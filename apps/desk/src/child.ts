import { fork } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { DeskError } from "./failure.ts";
import type { WorkerMessage, WorkerOrder } from "./message.ts";
import type { Pass } from "./work.ts";

/** How a worker's process ended. */
export type Ended =
  | { readonly how: "done"; readonly pass: Pass }
  | { readonly how: "killed"; readonly signal: string };

/**
 * Runs a worker to its end, or, where `order.holdAt` says so, until it stands at that place; there it is killed with
 * SIGKILL, which no process can catch.
 *
 * @throws DeskError `worker-failed`, with what the worker said
 */
export async function runWorker(
  order: WorkerOrder,
  onProgress: (done: number, all: number) => void,
): Promise<Ended> {
  const child = fork(fileURLToPath(new URL("worker.ts", import.meta.url)), [JSON.stringify(order)]);
  const kill = (): void => void child.kill("SIGKILL");
  process.prependOnceListener("exit", kill); // before the folder it works in is removed
  let pass: Pass | undefined;
  let failure: string | undefined;
  child.on("message", (message: WorkerMessage) => {
    switch (message.kind) {
      case "progress":
        return onProgress(message.done, message.all);
      case "holding":
        return kill();
      case "done":
        pass = message.pass;
        return;
      case "failed":
        failure = message.message;
        return;
    }
  });
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  process.off("exit", kill);
  if (signal !== null) return { how: "killed", signal };
  if (code === 0 && pass !== undefined) return { how: "done", pass };
  throw new DeskError("worker-failed", failure ?? `the worker ended with code ${String(code)}`);
}
