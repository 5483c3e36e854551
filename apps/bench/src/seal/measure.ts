/** One thing to time. Its result is kept, so that no engine drops the work. */
export interface Task {
  readonly name: string;
  readonly run: () => unknown;
}

let kept: unknown;

/** Milliseconds of processor time of this thread: wall time would measure the neighbours. */
function cpuMs(): number {
  const { user, system } = (
    process as NodeJS.Process & { threadCpuUsage(): NodeJS.CpuUsage }
  ).threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Median milliseconds of each task. Rounds are interleaved and every task starts a round in turn,
 * so that what slows the machine slows all of them; read ratios, not milliseconds.
 */
export function medians(tasks: readonly Task[], rounds: number): Map<string, number> {
  const repeats = tasks.map((task) => Math.max(1, Math.ceil(SAMPLE_MS / warm(task))));
  const times = new Map<string, number[]>(tasks.map((task) => [task.name, []] as const));
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < tasks.length; i++) {
      const index = (i + round) % tasks.length;
      const task = tasks[index]!;
      const start = cpuMs();
      for (let n = 0; n < repeats[index]!; n++) kept = task.run();
      times.get(task.name)!.push((cpuMs() - start) / repeats[index]!);
    }
  }
  if (kept === times) throw new Error("unreachable");
  return new Map([...times].map(([name, spent]) => [name, median(spent)] as const));
}

/** The clock of a thread counts in steps of up to 4 ms: a sample has to be long beside one. */
const SAMPLE_MS = 40;
/** Engines compile on a thread of their own; on a busy machine that takes its time. */
const WARM_MS = 400;

/** Warms a task up, and gives the milliseconds of one run. */
function warm(task: Task): number {
  const start = cpuMs();
  let runs = 0;
  while (cpuMs() - start < WARM_MS) {
    kept = task.run();
    runs++;
  }
  return (cpuMs() - start) / runs;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
