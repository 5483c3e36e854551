/** One executed call (TOOL-06). Plain data; no arguments, no result. */
export interface LedgerEntry {
  readonly runId: string;
  /** The visit's path; empty outside a flow. */
  readonly node: string;
  readonly tool: string;
  readonly version: string | undefined;
  readonly callId: string | undefined;
  readonly idempotencyKey: string | undefined;
  /**
   * Digest of what ran, secrets masked first (a short secret could be guessed from its digest);
   * absent if not sealable.
   */
  readonly argumentsDigest: string | undefined;
  readonly approvalId: string | undefined;
  /** Milliseconds since 1970, by this machine's clock. */
  readonly startedAt: number;
  /** All attempts and the waits between them. */
  readonly durationMs: number;
  readonly attempts: number;
  /** `ok`, or the failure's code. */
  readonly outcome: string;
}

/**
 * Where entries go: a file, a table, a log. Awaited before the call's result is handed out; a
 * failure never undoes a call.
 */
export interface Ledger {
  record(entry: LedgerEntry): void | Promise<void>;
}

/** Keeps the newest entries in memory, for tests and small programs. */
export function memoryLedger(
  entriesMax = 10_000,
): Ledger & { readonly entries: readonly LedgerEntry[] } {
  const entries: LedgerEntry[] = [];
  return {
    entries,
    record(entry) {
      if (entries.length >= entriesMax) entries.shift();
      entries.push(entry);
    },
  };
}
