import type { CommitOutcome, Row, Write } from "@holdpoint/approvals";
import { canonicalize } from "@holdpoint/seal";

import {
  runKeyWrite,
  runWrite,
  type RunColumns,
  type RunOrder,
  type RunRegistry,
} from "../registry/store.ts";

/** A registry that a case may do anything with. */
export interface RegistryUnderTest {
  /** Empty. */
  readonly registry: RunRegistry;
  /** Another handle on the same rows, as a second connection or process has one. */
  another(): RunRegistry | Promise<RunRegistry>;
  close(): void | Promise<void>;
}

export type MakeRegistry = () => RegistryUnderTest | Promise<RegistryUnderTest>;

/** One claim about any registry, with what shows it. */
export interface RegistryCase {
  /** A claim in the present tense behind the ids of what it shows. */
  readonly name: string;
  /** Rejects where the claim does not hold. Cases don't depend on each other or on their order. */
  readonly run: (make: MakeRegistry) => Promise<void>;
}

/** A claim that does not hold. */
export class ContractFailure extends Error {
  override readonly name = "ContractFailure";
}

/** A case over a registry of its own, closed afterwards whatever happened. */
export function registryCase(
  name: string,
  body: (under: RegistryUnderTest) => Promise<void>,
): RegistryCase {
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

export const columns: RunColumns = {
  definition: "refund",
  version: "1",
  status: "pending",
  session: null,
  startKey: null,
  createdAt: 1_000,
  updatedAt: 1_000,
  dueAt: null,
  sealed: "sealed",
};

/** A write of a run's row. */
export function put(id: string, expect: number, more: Partial<RunColumns> = {}): Write {
  return runWrite(tenant, id, expect, { ...columns, sealed: `sealed ${id}`, ...more });
}

/** A write of a start key's row. */
export function putKey(key: string, runId: string, definition = "refund"): Write {
  return runKeyWrite(tenant, definition, key, runId);
}

let attempts = 0;

/** A fresh attempt id. */
export function attempt(): string {
  attempts += 1;
  return `attempt-${attempts}`;
}

export async function commits(registry: RunRegistry, writes: readonly Write[]): Promise<void> {
  const outcome = await registry.commit(attempt(), writes);
  holds(outcome.status === "done", `a commit that nothing forbids is ${outcome.status}`);
}

/** What was refused, or a failure where nothing was. */
export function refusal(outcome: CommitOutcome): CommitOutcome & { readonly status: "refused" } {
  holds(outcome.status === "refused", `a commit that has to be refused is ${outcome.status}`);
  return outcome;
}

export const keysOf = (rows: readonly Row[]): readonly string[] => rows.map((row) => row.key);

/** One page that holds everything. */
export const all = (order: RunOrder = "oldest") => ({ order, limit: 500 }) as const;
