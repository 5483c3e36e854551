/** The database that all of them share. */
export type Place =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string; readonly schema: string };

/** What a process is to do. */
export interface Order {
  readonly place: Place;
  readonly effectsFile: string;
  readonly saidFile: string;
  readonly sessions: readonly string[];
  /** How many of them it may have at once; default: all. */
  readonly sessionsMax?: number;
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
