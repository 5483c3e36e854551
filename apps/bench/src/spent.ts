/** Processor time of this process, in microseconds: what else runs on the machine is not in it. */
export function spentMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/**
 * Runs a task for so long before it is measured. By processor time: on a busy machine it would else be measured before it is
 * compiled. What is short to write is compiled after a quarter of a second, a run with its seals, checks and promises is
 * quicker with each round up to some 20,000.
 */
export async function warmUp(run: () => Promise<unknown>, micros: number): Promise<void> {
  const start = spentMicros();
  while (spentMicros() - start < micros) await run();
}

/** How often a task runs in so long; at least once. */
export async function timesIn(run: () => Promise<unknown>, micros: number): Promise<number> {
  const start = spentMicros();
  let times = 0;
  for (; spentMicros() - start < micros; times += 1) await run();
  return Math.max(1, times);
}
