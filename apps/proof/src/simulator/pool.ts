import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

import { nothing, together, type Findings, type Range } from "./range.ts";

/** Seeds that a thread takes at a time: a new one loads and warms up again, and a late one is waited for. */
const shareMax = 1_000;
/** Shares of each thread, where there are few seeds. */
const sharesMin = 2;

export interface PoolHow {
  /** Default: as many as there are processors. */
  readonly threads: number | undefined;
  /** Told after each share. */
  readonly progress: (found: Findings) => void;
}

/** Simulates a range on several threads: each takes the next share as soon as it has none. */
export async function simulateOnThreads(
  { from, count }: Range,
  { threads = availableParallelism(), progress }: PoolHow,
): Promise<Findings> {
  let found = nothing;
  let next = 0;
  const share = Math.max(1, Math.min(shareMax, Math.ceil(count / (threads * sharesMin))));
  const work = async (): Promise<void> => {
    while (next < count) {
      const range = { from: from + next, count: Math.min(share, count - next) };
      next += range.count;
      const more = await onThread(range);
      found = together(found, more); // what stands now: other threads have come back meanwhile
      progress(found);
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, count) }, () => work()));
  const failed = found.failed.toSorted((one, other) => one.seed - other.seed);
  return { ...found, failed };
}

/** A thread of its own for each share: what one leaves behind is gone with it. */
function onThread(range: Range): Promise<Findings> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: range });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}
