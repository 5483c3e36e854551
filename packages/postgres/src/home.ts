/**
 * One schema on one pool, and what all ports on it share: its commits, its clock, its watchers.
 *
 * S1 A commit is one transaction of statements: one statement that is its own, or, where that does not apply, one begun
 *    READ COMMITTED, which says what stands. Nothing else is awaited in it (STORE-14).
 * S2 What the server says it took back is `store-unavailable`; where its answer to the statement that commits is lost, the outcome
 *    is `unknown`: it may have been taken in before the connection broke (APR-26).
 * S3 The store's time is the server's, read by each statement (W3 in `write-sql.ts`, STORE-15).
 * S4 Nobody is told of a commit before the server answered it, which is after its WAL is on the disk: also where the database's
 *    default is not to wait for that (STORE-14).
 * S5 Commits that met each other are tried again under the same attempt (`retrying.ts`).
 */

import type { CommitOutcome, Committer, Removal, Write } from "@holdpoint/approvals";

import { checkedWrites, type CheckedWrite } from "./checked-writes.ts";
import { isApplied, isOneStatement, oneStatement } from "./commit-statement.ts";
import { PostgresStoreError } from "./errors.ts";
import { limits } from "./limits.ts";
import { judge, type Judged } from "./judging.ts";
import type { PostgresPool } from "./pool.ts";
import { checkedRemoval, takeOut, type CheckedRemoval } from "./removing.ts";
import { retrying, type Patience } from "./retrying.ts";
import { connected, withSession, type Session, type SessionSettings } from "./sessions.ts";
import { Statements, type Binds, type StatementSettings } from "./statements.ts";
import { integerOf, tables, type RawRow } from "./tables.ts";
import { isTakenBack, notCommitted, unavailable } from "./unavailable.ts";

export interface HomeSettings extends SessionSettings, StatementSettings {
  /** Whether one who waits has a connection of its own to hear of changes. */
  readonly listens: boolean;
  /** Ends the pool: a caller's own is the caller's to end. */
  readonly end: (() => Promise<void>) | undefined;
}

/** Scopes in which a commit appended audit entries. */
type Watcher = (scopes: readonly string[]) => void;

/** A schema that several ports stand on. */
export class PostgresHome implements Committer {
  readonly settings: HomeSettings;
  readonly pool: PostgresPool;
  readonly #statements: Statements;
  readonly #patience: Patience;
  readonly #watchers = new Set<Watcher>();
  #closing: Promise<void> | undefined;

  constructor(pool: PostgresPool, settings: HomeSettings) {
    this.pool = pool;
    this.settings = settings;
    this.#statements = new Statements(settings);
    this.#patience = { timers: settings.timers, random: () => this.#random() };
  }

  get home(): this {
    return this;
  }

  async now(): Promise<number> {
    return integerOf((await this.row("SELECT {now} AS now"))?.["now"]);
  }

  async commit(attemptId: string, writes: readonly Write[]): Promise<CommitOutcome> {
    const checked = checkedWrites(attemptId, writes);
    if (checked.length === 0) return { status: "done", repeated: false };
    const outcome = await retrying(this.#patience, () =>
      this.#lending((session) => this.#commitOnce(session, attemptId, checked)),
    ).catch((error: unknown) => {
      throw notCommitted(error);
    });
    if (outcome.status === "done" && !outcome.repeated) this.#tell(checked); // S4
    return outcome;
  }

  /** Takes rows out, all or none. @throws PostgresStoreError `store-unavailable`, `write-invalid` */
  async remove(removal: Removal): Promise<boolean> {
    const checked = checkedRemoval(removal);
    const removing = retrying(this.#patience, () =>
      this.#lending((session) => this.#removeOnce(session, checked)),
    );
    try {
      return await removing;
    } catch (error) {
      throw unavailable(error, "a removal");
    }
  }

  /** The rows of one statement that reads. @throws PostgresStoreError `store-unavailable` */
  async rows(sql: string, binds: Binds = {}): Promise<readonly RawRow[]> {
    const query = this.#statements.query(sql, binds);
    const reading = retrying(this.#patience, () =>
      this.#lending(async (session) => (await session.run(query)).rows),
    );
    try {
      return (await reading) as readonly RawRow[];
    } catch (error) {
      throw unavailable(error, "reading");
    }
  }

  /** The first row. @throws PostgresStoreError `store-unavailable` */
  async row(sql: string, binds: Binds = {}): Promise<RawRow | undefined> {
    return (await this.rows(sql, binds))[0];
  }

  /** A connection that is kept: to listen on. @throws PostgresStoreError `store-unavailable` */
  connect(): ReturnType<typeof connected> {
    return connected(this.pool, this.settings);
  }

  /** Calls `watcher` after each commit here that appended audit entries, and at the end. */
  watch(watcher: Watcher): void {
    this.#watchers.add(watcher);
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /** Ends it; a pool made here is ended. Repeated: the same end. */
  close(): Promise<void> {
    this.#closing ??= this.settings.end?.() ?? Promise.resolve();
    for (const tell of this.#watchers) tell([]);
    this.#watchers.clear();
    return this.#closing;
  }

  async #commitOnce(
    session: Session,
    attemptId: string,
    writes: readonly CheckedWrite[],
  ): Promise<CommitOutcome> {
    if (isOneStatement(writes)) {
      const { statementMs } = this.settings;
      const commit = oneStatement(this.#statements, attemptId, writes, statementMs);
      try {
        if (await isApplied(session, commit)) return { status: "done", repeated: false };
      } catch (error) {
        return unknownUnlessTakenBack(error);
      }
    }
    return this.#inTransaction(session, attemptId, writes);
  }

  // S1
  async #inTransaction(
    session: Session,
    attemptId: string,
    writes: readonly CheckedWrite[],
  ): Promise<CommitOutcome> {
    let judged: Judged;
    await session.run(this.#beginSql());
    try {
      judged = await judge(session, this.#statements, attemptId, writes);
      if (judged.status !== "applicable" || judged.applied === 0) await session.run("ROLLBACK");
    } catch (error) {
      await rollBack(session);
      throw error;
    }
    if (judged.status === "refused") return judged;
    const done = { status: "done", repeated: judged.status === "repeated" } as const;
    if (judged.status === "repeated" || judged.applied === 0) return done;
    try {
      const { command } = await session.run("COMMIT");
      if (command === "COMMIT") return done;
    } catch (error) {
      session.break(error); // whatever it said: whoever got it next must not be inside this transaction
      return unknownUnlessTakenBack(error); // S2
    }
    const message = "the server took a commit back without a word";
    throw new PostgresStoreError("store-unavailable", message, { reason: "other" });
  }

  async #removeOnce(session: Session, removal: CheckedRemoval): Promise<boolean> {
    await session.run(this.#beginSql());
    try {
      const isTaken = await takeOut(session, this.#statements, removal);
      await session.run(isTaken ? "COMMIT" : "ROLLBACK");
      return isTaken;
    } catch (error) {
      await rollBack(session);
      throw error;
    }
  }

  // One way to the server, and settings that end with the transaction. S4
  #beginSql(): string {
    const { statementMs } = this.settings;
    const longestMs = statementMs + limits.graceMs / 2; // a lock that is waited for in vain is told as such
    return `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
      SET LOCAL lock_timeout = ${statementMs};
      SET LOCAL statement_timeout = ${longestMs};
      SET LOCAL idle_in_transaction_session_timeout = ${longestMs};
      SELECT set_config('synchronous_commit', 'on', true)
        WHERE current_setting('synchronous_commit') = 'off'`;
  }

  async #lending<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (this.closed) {
      const message = "the store is closed";
      throw new PostgresStoreError("store-unavailable", message, { reason: "closed" });
    }
    return withSession(this.pool, this.settings, work);
  }

  #tell(writes: readonly CheckedWrite[]): void {
    const appended = writes.filter(({ table }) => table === tables.approvalAudit);
    const scopes = [...new Set(appended.map(({ scope }) => scope))];
    if (scopes.length > 0) for (const tell of this.#watchers) tell(scopes);
  }

  // The database's own chance.
  async #random(): Promise<number> {
    const { rows } = await this.#lending((session) => session.run("SELECT random() AS drawn"));
    return Number((rows[0] as RawRow | undefined)?.["drawn"]);
  }
}

// S2
function unknownUnlessTakenBack(error: unknown): CommitOutcome {
  if (isTakenBack(error)) throw error;
  return { status: "unknown", cause: error };
}

async function rollBack(session: Session): Promise<void> {
  try {
    await session.run("ROLLBACK");
  } catch (error) {
    session.break(error);
  }
}
