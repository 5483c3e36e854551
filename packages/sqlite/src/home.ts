/**
 * One open file, and what all ports on it share: its commits, its clock, its watchers.
 *
 * S1 A commit is one transaction of statements, or a part of one that it shares (`gathering.ts`), begun IMMEDIATE: it has its lock before
 *    its first statement. A deferred one that reads first fails at its first write, at once, whatever the timeout (STORE-03).
 *    Nothing is awaited in it (STORE-14).
 * S2 What can't have been applied is `store-unavailable`; where COMMIT itself failed the outcome is `unknown`, since its frames
 *    may be in the log already, and the next to open the file would find them (APR-26).
 * S3 The store's time is read once a transaction, when the lock is held: a wait for it makes nothing younger (STORE-15).
 * S4 Nobody is told of a commit before COMMIT returned, which with `synchronous=FULL` is after its fsync (STORE-14).
 * S5 A lock of another process is waited for between tries, not in them (`retrying.ts`).
 */

import type { Clock, CommitOutcome, Committer, Removal, Write } from "@holdpoint/approvals";

import { checkedWrites, type CheckedWrite } from "./checked-writes.ts";
import { SqliteStoreError } from "./errors.ts";
import { Gathering, type Attempt } from "./gathering.ts";
import type { SqliteHandle } from "./handle.ts";
import { judge, type Judged } from "./judging.ts";
import { PreparedStatements } from "./prepared.ts";
import { checkedRemoval, takeOut, type CheckedRemoval } from "./removing.ts";
import { retrying, type Patience } from "./retrying.ts";
import { tables } from "./tables.ts";
import { reasonOf, isBusy, unavailable } from "./unavailable.ts";

export interface HomeSettings {
  readonly clock: Clock;
  readonly lockWaitMs: number;
  /** Whether `close` closes the handle: a caller's own is the caller's to close. */
  readonly ownsHandle: boolean;
}

/** A connection that several ports stand on. */
export class SqliteHome implements Committer {
  readonly clock: Clock;
  /** Whether it has a file: a database in memory ends with its handle. */
  readonly durable: boolean;
  readonly #handle: SqliteHandle;
  readonly #statements: PreparedStatements;
  readonly #patience: Patience;
  readonly #gathering: Gathering;
  readonly #ownsHandle: boolean;
  readonly #watchers = new Set<() => void>();
  #closed = false;

  constructor(handle: SqliteHandle, { clock, lockWaitMs, ownsHandle }: HomeSettings) {
    this.clock = clock;
    this.#handle = handle;
    this.#statements = new PreparedStatements(handle);
    this.#ownsHandle = ownsHandle;
    this.#patience = { clock, lockWaitMs, random: () => this.#random() };
    this.#gathering = new Gathering(
      (attempts) => retrying(this.#patience, () => this.#commitTogether(attempts)), // S5
    );
    const main = this.#statements.row("SELECT file FROM pragma_database_list WHERE name = 'main'");
    this.durable = typeof main?.["file"] === "string" && main["file"] !== "";
  }

  get home(): this {
    return this;
  }

  async now(): Promise<number> {
    return this.clock.now();
  }

  async commit(attemptId: string, writes: readonly Write[]): Promise<CommitOutcome> {
    const checked = checkedWrites(attemptId, writes);
    if (checked.length === 0) return { status: "done", repeated: false };
    return this.#gathering.add({ attemptId, writes: checked });
  }

  /** Takes rows out, all or none. @throws SqliteStoreError `store-unavailable`, `write-invalid` */
  async remove(removal: Removal): Promise<boolean> {
    const checked = checkedRemoval(removal);
    return retrying(this.#patience, () => this.#removeOnce(checked)); // S5
  }

  /** Runs reads that see one state of the file. @throws SqliteStoreError `store-unavailable` */
  async read<T>(reading: (statements: PreparedStatements) => T): Promise<T> {
    return retrying(this.#patience, () => {
      this.#assertOpen();
      try {
        return reading(this.#statements);
      } catch (error) {
        throw isBusy(error) ? error : unavailable(error, "reading");
      }
    });
  }

  /** Calls `watcher` after each commit on this handle that appended audit entries, and at its end. */
  watch(watcher: () => void): void {
    this.#watchers.add(watcher);
  }

  /** A number that changes when another connection commits. @throws SqliteStoreError `store-unavailable` */
  otherCommits(): number {
    this.#assertOpen();
    try {
      return Number(this.#statements.row("PRAGMA data_version")?.["data_version"]);
    } catch (error) {
      throw unavailable(error, "reading");
    }
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Ends it; a file opened here is closed. Repeated: nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#tell();
    this.#watchers.clear();
    if (this.#ownsHandle) this.#handle.close();
  }

  #commitTogether(attempts: readonly Attempt[]): readonly CommitOutcome[] | "apart" {
    const alone = attempts.length === 1;
    this.#begin();
    let judged: readonly Judged[];
    try {
      const now = this.clock.now(); // S3
      judged = attempts.map((attempt) =>
        alone ? this.#judged(attempt, now) : this.#judgedApart(attempt, now),
      );
    } catch (error) {
      this.#rollback();
      if (isBusy(error)) throw error;
      if (!alone) return "apart"; // G3 in `gathering.ts`
      throw unavailable(error, "a commit");
    }
    const outcomes = judged.map((each) => outcomeOf(each));
    if (judged.every(isNothing)) {
      this.#rollback();
      return outcomes;
    }
    try {
      this.#handle.exec("COMMIT");
    } catch (error) {
      // What was refused was judged by what its neighbours left, and that is unknown as well.
      const failed = this.#commitFailed(error);
      return outcomes.map(() => failed);
    }
    if (attempts.some(({ writes }, at) => !isNothing(judged[at]!) && writes.some(isAudit))) {
      this.#tell(); // S4
    }
    return outcomes;
  }

  #judged({ attemptId, writes }: Attempt, now: number): Judged {
    return judge(this.#statements, attemptId, writes, now);
  }

  // A neighbour's writes stay where this one's are taken back.
  #judgedApart(attempt: Attempt, now: number): Judged {
    this.#handle.exec("SAVEPOINT attempt");
    const judged = this.#judged(attempt, now);
    if (judged.status !== "applicable") this.#handle.exec("ROLLBACK TO attempt");
    this.#handle.exec("RELEASE attempt");
    return judged;
  }

  #removeOnce(removal: CheckedRemoval): boolean {
    this.#begin();
    try {
      if (!takeOut(this.#statements, removal)) {
        this.#rollback();
        return false;
      }
      this.#handle.exec("COMMIT");
      return true;
    } catch (error) {
      this.#rollback();
      throw isBusy(error) ? error : unavailable(error, "a removal");
    }
  }

  // S1
  #begin(): void {
    this.#assertOpen();
    if (this.#handle.isTransaction) {
      const message = "the handle is inside a transaction that its owner began";
      throw new SqliteStoreError("store-unavailable", message, { reason: "in-transaction" });
    }
    try {
      this.#handle.exec("BEGIN IMMEDIATE");
    } catch (error) {
      this.#rollback();
      throw isBusy(error) ? error : unavailable(error, "a commit");
    }
  }

  // S2: a full disk fails at writing a frame, before the one that commits is whole; a failed fsync comes after it.
  #commitFailed(error: unknown): CommitOutcome {
    const reason = reasonOf(error);
    try {
      this.#rollback();
    } catch {
      return { status: "unknown", cause: error };
    }
    if (reason === "busy") throw error;
    if (reason === "full") throw unavailable(error, "a commit");
    return { status: "unknown", cause: error };
  }

  // After some failures SQLite has rolled back by itself, and there is no transaction any more.
  #rollback(): void {
    if (!this.#handle.isTransaction) return;
    try {
      this.#handle.exec("ROLLBACK");
    } catch (error) {
      // Nothing more can be trusted to this handle: another one on the file can.
      this.close();
      throw unavailable(error, "a rollback");
    }
  }

  #assertOpen(): void {
    if (!this.#closed) return;
    throw new SqliteStoreError("store-unavailable", "the store is closed", { reason: "closed" });
  }

  #tell(): void {
    for (const tell of this.#watchers) tell();
  }

  // The database's own chance; reading it takes no lock.
  #random(): number {
    const drawn = this.#statements.row("SELECT abs(random() % 1000000) AS millionths");
    return Number(drawn?.["millionths"]) / 1_000_000;
  }
}

function outcomeOf(judged: Judged): CommitOutcome {
  if (judged.status === "refused") return judged;
  return { status: "done", repeated: judged.status === "repeated" };
}

/** Whether nothing is to be kept of it. */
function isNothing(judged: Judged): boolean {
  return judged.status !== "applicable" || judged.applied === 0;
}

function isAudit({ table }: CheckedWrite): boolean {
  return table === tables.approvalAudit;
}
