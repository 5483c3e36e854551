/** Calls `next` when the code that was just woken has come to rest: every promise reaction it set off has run. */
export type Rest = (next: () => void) => void;

/**
 * In Node the tick queue is served once the queue of promise reactions has run dry: half a microsecond. Elsewhere the next
 * macrotask serves, which is correct as well and slower.
 */
export const platformRest: Rest = restOn(globalThis);

/** The quickest way that a platform has. */
export function restOn({
  process,
}: {
  readonly process?: Partial<typeof globalThis.process>;
}): Rest {
  return typeof process?.nextTick === "function"
    ? (next) => queueMicrotask(() => process.nextTick!(next))
    : macrotaskRest();
}

/** By a message to oneself: anywhere, and about ten times slower. */
export function macrotaskRest(): Rest {
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port1.onmessage = () => waiting.shift()?.();
  return (next) => {
    waiting.push(next);
    port2.postMessage(0);
  };
}
