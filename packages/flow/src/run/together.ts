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
  run: (item: T) => Promise<void> | undefined,
): Promise<void> {
  const faults: unknown[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < list.length && faults.length === 0 && !signal.aborted) {
      try {
        const running = run(list[next++]!);
        if (running !== undefined) await running;
        const flushed = live.flush();
        if (flushed !== undefined) await flushed;
        const turn = live.durable ? fairTurn(live.parts.clock) : undefined;
        if (turn !== undefined) await turn;
      } catch (fault) {
        faults.push(fault);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(bound, list.length) }, worker));
  if (faults.length > 0) throw faults[0];
}
