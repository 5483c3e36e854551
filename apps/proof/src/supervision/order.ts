/** What a process is to do. */
export interface Order {
  /** The database that all of them share. */
  readonly file: string;
  readonly effectsFile: string;
  readonly saidFile: string;
  readonly sessions: readonly string[];
  /** Sessions to start runs in, and how many in each. */
  readonly startIn: readonly string[];
  readonly runs: number;
  readonly workers: number;
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly stepMs: number;
  readonly holdAt?: number;
  /** Whether it goes on to start runs without an end. */
  readonly storms: boolean;
  readonly clocks: "run" | "stand";
}

/** What a process says it did. `since` and `at` are the machine's time before and after. */
export type Said =
  | { readonly kind: "up"; readonly at: number }
  | {
      readonly kind: "accepted" | "refused";
      readonly session: string;
      /** The epoch that it wrote under, as it believed. */
      readonly epoch: number;
      readonly since: number;
      readonly at: number;
      readonly code?: string;
    };
