import { canonicalize } from "@holdpoint/seal";

import { putLease, type CommitOutcome, type Row, type Write } from "../commit.ts";
import type { ApprovalStore } from "../store.ts";
import { auditKey, statements, type ApprovalColumns } from "../store.ts";

/** A store that a case may do anything with, and what a test alone can do to it. */
export interface StoreUnderTest {
  /** Empty. */
  readonly store: ApprovalStore;
  /** Another handle on the same rows, as a second connection or process has one. */
  another(): ApprovalStore | Promise<ApprovalStore>;
  /** Moves the store's clock on. */
  advance(ms: number): void | Promise<void>;
  close(): void | Promise<void>;
}

export type MakeStore = () => StoreUnderTest | Promise<StoreUnderTest>;

/** One claim about any store, with what shows it. */
export interface StoreCase {
  /** A claim in the present tense behind the ids of what it shows. */
  readonly name: string;
  /** Rejects where the claim does not hold. Cases don't depend on each other or on their order. */
  readonly run: (make: MakeStore) => Promise<void>;
}

/** A claim that does not hold. */
export class ContractFailure extends Error {
  override readonly name = "ContractFailure";
}

/** A case over a store of its own, closed afterwards whatever happened. */
export function storeCase(name: string, body: (under: StoreUnderTest) => Promise<void>): StoreCase {
  return {
    name,
    async run(make) {
      const under = await make();
      try {
        await body(under);
      } finally {
        await under.close();
      }
    },
  };
}

export function holds(condition: boolean, what: string): asserts condition {
  if (!condition) throw new ContractFailure(what);
}

/** Compares as values: by the canonical form. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const [left, right] = [canonicalize(actual), canonicalize(expected)];
  if (left !== right) throw new ContractFailure(`${what}: expected ${right}, got ${left}`);
}

export const tenant = "acme";

/** A write of a record's row. */
export function put(
  id: string,
  expect: Write["expect"],
  columns: Partial<ApprovalColumns> = {},
  more: Partial<Omit<Write, "values">> = {},
): Write {
  return {
    statement: statements.putRecord,
    scope: tenant,
    key: id,
    expect,
    values: {
      state: "pending",
      tool: "issue_refund",
      runId: "run-1",
      requestKey: `key-of-${id}`,
      requestedAt: 1_000,
      expiresAt: null,
      sealed: `sealed ${id}`,
      ...columns,
    },
    ...more,
  };
}

/** A write that appends an audit entry. */
export function append(id: string, number: number, sealed = `entry ${number}`): Write {
  return {
    statement: statements.appendAudit,
    scope: tenant,
    key: auditKey(id, number),
    expect: 0,
    values: { sealed },
  };
}

/** A write of the row that finds a call's record. */
export function putKey(requestKey: string, expect: Write["expect"], id: string): Write {
  return {
    statement: statements.putKey,
    scope: tenant,
    key: requestKey,
    expect,
    values: { id, asked: 1 },
  };
}

/** A write that makes `epoch` a lease's first one. */
export function lease(name: string, epoch: number): Write {
  return {
    statement: putLease,
    scope: tenant,
    key: name,
    expect: 0,
    values: { epoch, owner: "somebody", until: 2_000_000 },
  };
}

let attempts = 0;

/** A fresh attempt id. */
export function attempt(): string {
  attempts += 1;
  return `attempt-${attempts}`;
}

export async function commits(
  store: ApprovalStore,
  writes: readonly Write[],
  attemptId: string = attempt(),
): Promise<void> {
  const outcome = await store.commit(attemptId, writes);
  holds(outcome.status === "done", `a commit that nothing forbids is ${outcome.status}`);
}

/** What was refused, or a failure where nothing was. */
export function refusal(outcome: CommitOutcome): CommitOutcome & { readonly status: "refused" } {
  holds(outcome.status === "refused", `a commit that has to be refused is ${outcome.status}`);
  return outcome;
}

export const keysOf = (rows: readonly Row[]): readonly string[] => rows.map((row) => row.key);
