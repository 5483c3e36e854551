/**
 * Waiting for audit entries (APR-27).
 *
 * F1 Commits of this home wake at once, without a look: what they appended is past whatever was read before. Those of other
 *    connections wake by their announcement, or else by looking for them from time to time, while anybody waits.
 * F2 Whoever waits looks for itself, once, after it is known to wait: what is committed after that look wakes it.
 * F3 Waking early is allowed, sleeping on is not: where the database can't be read everybody wakes, and meets the error in
 *    reading.
 */

import type { CancelTimer } from "@holdpoint/approvals";

import { Announcements } from "./announcing.ts";
import type { PostgresHome } from "./home.ts";
import { limits } from "./limits.ts";
import { integerOf } from "./tables.ts";

interface Waiting {
  readonly scope: string;
  readonly after: number;
  readonly wake: () => void;
}

const lastSql = `SELECT wanted.scope, (
    SELECT position FROM {approval_audit} AS entries
    WHERE entries.scope = wanted.scope ORDER BY position DESC LIMIT 1
  ) AS position FROM unnest(:scopes::text[]) AS wanted (scope)`;

export class ChangeFeed {
  readonly #home: PostgresHome;
  readonly #announcements: Announcements;
  readonly #waiting = new Set<Waiting>();
  #looking: "no" | "once" | "again" = "no";
  #cancelPoll: CancelTimer | undefined;
  #cancelRest: CancelTimer | undefined;

  constructor(home: PostgresHome) {
    this.#home = home;
    this.#announcements = new Announcements(home, (scope) => {
      const isWanted = ({ scope: wanted }: Waiting): boolean => wanted === (scope ?? wanted);
      if ([...this.#waiting].some(isWanted)) this.#look();
    });
    home.watch((scopes) => {
      if (home.closed) return this.#end();
      this.#announcements.announce(scopes);
      for (const { scope, wake } of this.#waiting) if (scopes.includes(scope)) wake(); // F1
    });
  }

  async wait(scope: string, after: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    let waiting: Waiting | undefined;
    const woken = new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(waiting!);
        signal.removeEventListener("abort", wake);
        if (this.#waiting.size === 0) this.#rest();
        resolve();
      };
      waiting = { scope, after, wake };
      this.#waiting.add(waiting);
      signal.addEventListener("abort", wake);
    });
    try {
      const last = await lastPosition(this.#home, scope); // F2
      if (last > after) waiting!.wake();
    } catch (error) {
      waiting!.wake();
      throw error;
    }
    this.#arm();
    return woken;
  }

  #arm(): void {
    if (this.#waiting.size === 0) return;
    this.#cancelRest?.();
    this.#cancelRest = undefined;
    this.#announcements.listen();
    if (this.#cancelPoll !== undefined) return;
    const ms = this.#announcements.isListening ? limits.netMs : limits.pollMs;
    this.#cancelPoll = this.#home.settings.timers.timer(ms, () => {
      this.#cancelPoll = undefined;
      this.#look(); // F1
      this.#arm();
    });
  }

  /** Nobody waits: no more looks, and in a while no more listening, unless somebody waits again. */
  #rest(): void {
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
    this.#cancelRest ??= this.#home.settings.timers.timer(limits.netMs, () => {
      this.#cancelRest = undefined;
      this.#announcements.stop();
    });
  }

  #end(): void {
    this.#wakeAll();
    this.#cancelRest?.();
    this.#announcements.stop();
  }

  #look(): void {
    if (this.#waiting.size === 0) return;
    if (this.#looking !== "no") {
      this.#looking = "again";
      return;
    }
    this.#looking = "once";
    this.#lookOnce()
      .catch(() => this.#wakeAll()) // F3
      .finally(() => {
        const isDue = this.#looking === "again";
        this.#looking = "no";
        if (isDue) this.#look();
      });
  }

  async #lookOnce(): Promise<void> {
    const scopes = [...new Set([...this.#waiting].map(({ scope }) => scope))];
    const rows = await this.#home.rows(lastSql, { scopes });
    const last = new Map(rows.map(({ scope, position }) => [scope, integerOf(position ?? 0)]));
    for (const { scope, after, wake } of this.#waiting) {
      if ((last.get(scope) ?? 0) > after) wake();
    }
  }

  #wakeAll(): void {
    for (const { wake } of this.#waiting) wake();
  }
}

/** Position of the newest audit entry of a scope; 0 where there is none. */
export async function lastPosition(home: PostgresHome, scope: string): Promise<number> {
  return integerOf((await home.row(lastSql, { scopes: [scope] }))?.["position"] ?? 0);
}
