/**
 * Connections on loan.
 *
 * P1 A connection goes back to its pool only while what it was asked last has been answered: one that was lost, or kept silent,
 *    is closed, so that nobody else gets the answer.
 * P2 Every wait has an end: for a connection, and for each statement. The server's own limits come first, where they can be
 *    set; silence after them is `timeout`.
 * P3 Nothing is left in a connection for the next: settings end with their transaction (a pooler may give every transaction
 *    another connection).
 */

import type { Clock } from "@holdpoint/approvals";

import { PostgresStoreError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from "./pool.ts";
import { isTakenBack, unavailable } from "./unavailable.ts";

/** What waits are timed by; the time itself is the server's. */
export type Timers = Pick<Clock, "monotonic" | "timer">;

export interface SessionSettings {
  readonly timers: Timers;
  /** How long a statement may take, milliseconds. */
  readonly statementMs: number;
}

/** One connection while it is on loan. */
export class Session {
  readonly client: PostgresClient;
  readonly #settings: SessionSettings;
  #broken: Error | undefined;
  readonly #onError = (): void => {}; // the statement that runs meets it; without a listener the process would end

  constructor(client: PostgresClient, settings: SessionSettings) {
    this.client = client;
    this.#settings = settings;
    client.on("error", this.#onError);
  }

  /** Runs one statement. Rejects with the driver's error, or with `store-unavailable`, reason `timeout`. */
  async run(
    query: PostgresQuery | string,
    ms = this.#settings.statementMs,
  ): Promise<PostgresResult> {
    const asked = typeof query === "string" ? { text: query, values: [] } : query;
    try {
      return await within(this.#settings.timers, ms + limits.graceMs, this.client.query(asked));
    } catch (error) {
      if (!isTakenBack(error)) this.break(error);
      throw error;
    }
  }

  /** Has the connection closed instead of given back. */
  break(cause: unknown): void {
    this.#broken ??= cause instanceof Error ? cause : new Error("broken", { cause });
  }

  /** P1 */
  end(): void {
    this.client.removeListener("error", this.#onError);
    this.client.release(this.#broken);
  }
}

/** Lends a connection. @throws PostgresStoreError `store-unavailable` where there is none; what `work` throws */
export async function withSession<T>(
  pool: PostgresPool,
  settings: SessionSettings,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = new Session(await connected(pool, settings), settings);
  try {
    return await work(session);
  } finally {
    session.end();
  }
}

/** A connection of the pool. @throws PostgresStoreError `store-unavailable` */
export async function connected(
  pool: PostgresPool,
  { timers, statementMs }: SessionSettings,
): Promise<PostgresClient> {
  const connecting = Promise.resolve(pool.connect());
  let isLate = false;
  connecting.then(
    (client) => {
      if (isLate) client.release();
    },
    () => {},
  );
  try {
    return await within(timers, statementMs, connecting);
  } catch (error) {
    isLate = true;
    throw unavailable(error, "connecting");
  }
}

// P2
function within<T>(timers: Timers, ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = timers.timer(ms, () => {
      const message = `the database kept silent for ${ms} ms`;
      reject(new PostgresStoreError("store-unavailable", message, { reason: "timeout" }));
    });
    work.then(resolve, reject).finally(cancel);
  });
}
