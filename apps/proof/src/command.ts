import type { StartServer } from "./server.ts";

/** How a proof is asked for: the short form that CI has time for, or the long one, so many times. */
export interface ProofHow {
  readonly quick: boolean;
  readonly times?: number;
  readonly startServer: StartServer;
  /** The number behind `--name`, where it was given. */
  number(name: string): number | undefined;
  /** The word behind `--name`, where it was given. */
  text(name: string): string | undefined;
}

/** A proof: prints its figures and answers what was wrong; nothing, where all is as it has to be. */
export type Proof = (how: ProofHow) => Promise<readonly string[]>;

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Seconds that work took, for its last line. */
export function stopwatch(): () => string {
  const began = performance.now();
  return () => `${((performance.now() - began) / 1_000).toFixed(1)} s`;
}
