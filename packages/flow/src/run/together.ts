import { fairTurn } from "./fairness.ts";
import type { Place } from "./place.ts";

/**
 * Everything of a list, side by side up to a bound. A fault lets what is under way end, and begins nothing more.
 * @throws the first fault
 */
export async function runTogether<T>(
  { live, signal }: Place,
  bound: number,
  list: readonly T[],
  run: (item: T) => Promise<void>,
): Promise<void> {
  const faults: unknown[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < list.length && faults.length === 0 && !signal.aborted) {
      try {
        await run(list[next++]!);
        await live.flush();
        if (live.durable) await fairTurn(live.parts.clock);
      } catch (fault) {
        faults.push(fault);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(bound, list.length) }, worker));
  if (faults.length > 0) throw faults[0];
}
