/**
 * Waiting for audit entries (APR-27).
 *
 * F1 Commits of this handle wake at once; those of other connections are noticed by polling one number, while anybody waits.
 * F2 The number that a poll compares with was read before anybody who waits now asked whether there is something already: what
 *    is committed after the question differs from it.
 * F3 Waking early is allowed, sleeping on is not: where the file can't be read everybody wakes, and meets the error in reading.
 */

import type { CancelTimer } from "@holdpoint/approvals";

import type { SqliteHome } from "./home.ts";
import { limits } from "./limits.ts";
import type { PreparedStatements } from "./prepared.ts";

interface Waiting {
  readonly scope: string;
  readonly after: number;
  readonly wake: () => void;
}

export class ChangeFeed {
  readonly #home: SqliteHome;
  readonly #waiting = new Set<Waiting>();
  #seen = 0;
  #cancelPoll: CancelTimer | undefined;

  constructor(home: SqliteHome) {
    this.#home = home;
    home.watch(() => this.#look());
  }

  async wait(scope: string, after: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    let waiting: Waiting | undefined;
    const woken = new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(waiting!);
        signal.removeEventListener("abort", wake);
        if (this.#waiting.size === 0) this.#stop();
        resolve();
      };
      waiting = { scope, after, wake };
      this.#waiting.add(waiting);
      signal.addEventListener("abort", wake);
    });
    try {
      const last = await this.#home.read((statements) => lastPosition(statements, scope));
      if (last > after) waiting!.wake();
    } catch (error) {
      waiting!.wake();
      throw error;
    }
    this.#arm();
    return woken;
  }

  #arm(): void {
    if (this.#waiting.size === 0 || this.#cancelPoll !== undefined) return;
    this.#cancelPoll = this.#home.clock.timer(limits.pollMs, () => {
      this.#cancelPoll = undefined;
      this.#poll();
      this.#arm();
    });
  }

  #stop(): void {
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
  }

  // F1
  #poll(): void {
    try {
      const commits = this.#home.otherCommits();
      if (commits === this.#seen) return; // F2
      this.#seen = commits;
      this.#look();
    } catch {
      this.#wakeAll(); // F3
    }
  }

  #look(): void {
    if (this.#waiting.size === 0) return;
    if (this.#home.closed) return this.#wakeAll();
    const scopes = new Set([...this.#waiting].map(({ scope }) => scope));
    this.#home
      .read(
        (statements) =>
          new Map([...scopes].map((scope) => [scope, lastPosition(statements, scope)])),
      )
      .then(
        (last) => {
          for (const { scope, after, wake } of this.#waiting) {
            if ((last.get(scope) ?? 0) > after) wake();
          }
        },
        () => this.#wakeAll(), // F3
      );
  }

  #wakeAll(): void {
    for (const { wake } of this.#waiting) wake();
  }
}

/** Position of the newest audit entry of a scope; 0 where there is none. */
export function lastPosition(statements: PreparedStatements, scope: string): number {
  const last = statements.row(
    "SELECT position FROM approvalAudit WHERE scope = :scope ORDER BY position DESC LIMIT 1",
    { scope },
  );
  return Number(last?.["position"] ?? 0);
}
