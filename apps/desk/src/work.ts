import { setImmediate } from "node:timers/promises";

import type { Desk } from "./desk.ts";
import type { RefundRequest } from "./requests.ts";

/** What one pass over the requests came to. */
export interface Pass {
  readonly completed: number;
  readonly waiting: number;
  /** How many another process was at work on. */
  readonly elsewhere: number;
  readonly setAside: readonly { readonly request: string; readonly why: string }[];
}

/** Brings every request as far as it goes without a person, in order: who came first is served first. */
export async function workThrough(
  desk: Desk,
  requests: readonly RefundRequest[],
  onProgress: (done: number) => void,
): Promise<Pass> {
  const counts = { completed: 0, waiting: 0, elsewhere: 0 };
  const setAside: { request: string; why: string }[] = [];
  await desk.begin();
  for (const [index, request] of requests.entries()) {
    const rest = await desk.carryOn(request);
    if (rest.status === "set-aside") setAside.push({ request: request.id, why: rest.why });
    else counts[rest.status] += 1;
    onProgress(index + 1);
    await setImmediate(); // SQLite answers at once, so nothing else would ever be heard: a signal, a parent that died
  }
  return { ...counts, setAside };
}
