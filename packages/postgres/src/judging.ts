/**
 * What becomes of a list of writes inside a transaction.
 *
 * J1 A write is one statement (W1 in `write-sql.ts`). Reads only say why nothing changed.
 * J2 A write is judged against what the writes before it in the list left: those of one row run in the list's order, and no
 *    write depends on another row's.
 * J3 Refusals name the first refused write, and of its reasons the first of version, fence, time.
 * J4 A row at the version that a write makes, made by this attempt, is this write's own: it stands already (APR-26). Once one
 *    of a list is, the whole list was applied before, since all or none were: what could be applied now is taken back.
 */

import type { Refusal, Row } from "@holdpoint/approvals";

import type { CheckedWrite } from "./checked-writes.ts";
import { MovedMeanwhile } from "./retrying.ts";
import type { Session } from "./sessions.ts";
import type { Binds, Statements } from "./statements.ts";
import { integerOf, rowOf, tables, type RawRow } from "./tables.ts";
import { bindsOf, feedsOf, inLockOrder, shapeOf, standingSql, writeSql } from "./write-sql.ts";

/** `repeated` and `refused`: whatever changed a row is taken back by the caller. */
export type Judged =
  | { readonly status: "applicable"; readonly applied: number }
  | { readonly status: "repeated" }
  | { readonly status: "refused"; readonly write: number; readonly refusal: Refusal };

/** What became of one write. */
type Fate =
  | { readonly is: "applied" | "own" | "let be" }
  | { readonly is: "refused"; readonly refusal: Refusal };

/** Applies what can be, one statement a write, and says what the transaction has to become. */
export async function judge(
  session: Session,
  statements: Statements,
  attemptId: string,
  writes: readonly CheckedWrite[],
): Promise<Judged> {
  const judging = new Judging(session, statements, attemptId);
  const fates: Fate[] = [];
  for (const { at, write } of inLockOrder(writes.map((write, at) => ({ write, at })))) {
    fates[at] = await judging.fateOf(write);
  }
  return judged(fates);
}

/** J3, J4 */
function judged(fates: readonly Fate[]): Judged {
  if (fates.some(({ is }) => is === "own")) return { status: "repeated" };
  for (const [write, fate] of fates.entries()) {
    if (fate.is === "refused") return { status: "refused", write, refusal: fate.refusal };
  }
  return { status: "applicable", applied: fates.filter(({ is }) => is === "applied").length };
}

class Judging {
  readonly #session: Session;
  readonly #statements: Statements;
  readonly #attemptId: string;

  constructor(session: Session, statements: Statements, attemptId: string) {
    this.#session = session;
    this.#statements = statements;
    this.#attemptId = attemptId;
  }

  async fateOf(write: CheckedWrite): Promise<Fate> {
    const done = await this.#row(sqlOf(write), bindsOf(this.#attemptId, write, 0));
    if (done?.["ok"] === true) return { is: "applied" };
    // It did something, and was late by then: it counts as what it was too late for.
    if (done !== undefined) {
      return { is: "refused", refusal: { because: "late", now: await this.#now() } };
    }
    const stands = await this.#standing(write);
    if (isOwn(this.#attemptId, write, stands)) return { is: "own" };
    if (write.expect === "any" && stands !== undefined) return { is: "let be" };
    return { is: "refused", refusal: await this.#refusalOf(write, stands) };
  }

  async #standing({ table, scope, key }: CheckedWrite): Promise<Row | undefined> {
    const raw = await this.#row(standingSql(table), { scope, key });
    return raw && rowOf(table, raw);
  }

  // J3
  async #refusalOf(write: CheckedWrite, stands: Row | undefined): Promise<Refusal> {
    const { scope, expect, before, from, fence } = write;
    if (expect !== "any" && (stands?.version ?? 0) !== expect)
      return { because: "version", stands };
    if (fence !== undefined) {
      const lease = await this.#row(standingSql(tables.leases), { scope, key: fence.name });
      const epoch = lease === undefined ? 0 : integerOf(lease["epoch"]);
      if (epoch > fence.epoch) return { because: "fenced", epoch };
    }
    const now = await this.#now();
    if (before !== null && now >= before) return { because: "late", now };
    if (from !== null && now < from) return { because: "early", now };
    // What stood in the way has moved meanwhile: there is nothing to name, and nothing against trying again.
    throw new MovedMeanwhile();
  }

  async #now(): Promise<number> {
    return integerOf((await this.#row("SELECT {now} AS now", {}))?.["now"]);
  }

  async #row(sql: string, binds: Binds): Promise<RawRow | undefined> {
    const { rows } = await this.#session.run(this.#statements.query(sql, binds));
    return rows[0] as RawRow | undefined;
  }
}

const sqlByShape = new Map<string, string>();

function sqlOf(write: CheckedWrite): string {
  const [feed] = feedsOf([write]);
  const shape = shapeOf(write, feed);
  let sql = sqlByShape.get(shape);
  if (sql === undefined) {
    sql = `WITH ${writeSql(write, { at: 0, feed }).join(",\n    ")} SELECT ok FROM w0`;
    sqlByShape.set(shape, sql);
  }
  return sql;
}

// J4
function isOwn(attemptId: string, { expect }: CheckedWrite, stands: Row | undefined): boolean {
  if (stands?.attempt !== attemptId) return false;
  return stands.version === (expect === "any" ? 1 : expect + 1);
}
