/** One thing to time. Its result is kept, so that no engine drops the work. */
export interface Task {
  readonly name: string;
  readonly run: () => unknown;
}

let kept: unknown;

/**
 * Median milliseconds of each task. Rounds are interleaved and every task starts a round in turn,
 * so that what slows the machine slows all of them; read ratios, not milliseconds.
 */
export function medians(
  tasks: readonly Task[],
  rounds: number,
  repeats: number,
): Map<string, number> {
  const times = new Map<string, number[]>(tasks.map((task) => [task.name, []] as const));
  for (let round = -2; round < rounds; round++) {
    for (let i = 0; i < tasks.length; i++) {
      const task = tasks[(i + round + 2) % tasks.length]!;
      const start = performance.now();
      for (let n = 0; n < repeats; n++) kept = task.run();
      const spent = (performance.now() - start) / repeats;
      // The first two rounds warm the code up.
      if (round >= 0) times.get(task.name)!.push(spent);
    }
  }
  if (kept === times) throw new Error("unreachable");
  return new Map([...times].map(([name, spent]) => [name, median(spent)] as const));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
