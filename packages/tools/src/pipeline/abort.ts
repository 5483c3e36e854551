/** Who waits for a signal's abort. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `run` when the signal is aborted, unless taken back first. One listener a signal, however
 * many calls share it: Node warns of a leak past ten, and a flow may have thousands of calls on
 * one.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  let known = waiting.get(signal);
  if (known === undefined) {
    const all = new Set<() => void>();
    known = all;
    waiting.set(signal, all);
    signal.addEventListener("abort", () => [...all].forEach((each) => each()), { once: true });
  }
  const all = known;
  all.add(run);
  return () => void all.delete(run);
}
