import type { CommitOutcome, Write } from "@holdpoint/approvals";

import { leaseOf, type LeaseState, type LeaseStore } from "../lease/store.ts";
import { attempt, holds } from "./registry-case.ts";

/** A store of leases that a case may do anything with, and what a test alone can do to it. */
export interface LeasesUnderTest {
  /** Empty. */
  readonly leases: LeaseStore;
  /** Another handle on the same rows, as a second connection or process has one. */
  another(): LeaseStore | Promise<LeaseStore>;
  /** Moves the store's clock on. */
  advance(ms: number): void | Promise<void>;
  close(): void | Promise<void>;
}

export type MakeLeases = () => LeasesUnderTest | Promise<LeasesUnderTest>;

/** One claim about any store of leases, with what shows it. */
export interface LeaseCase {
  /** A claim in the present tense behind the ids of what it shows. */
  readonly name: string;
  /** Rejects where the claim does not hold. Cases don't depend on each other or on their order. */
  readonly run: (make: MakeLeases) => Promise<void>;
}

/** A case over a store of its own, closed afterwards whatever happened. */
export function leaseCase(
  name: string,
  body: (under: LeasesUnderTest) => Promise<void>,
): LeaseCase {
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

export const scope = "acme";
export const leaseMs = 30_000;

/** A lease as it stands. */
export async function standing(leases: LeaseStore, name = "desk", inScope = scope) {
  return leaseOf(inScope, name, await leases.get(inScope, name));
}

/** Takes what must be free, and answers it as it stands afterwards. */
export async function taken(
  leases: LeaseStore,
  write: (stands: LeaseState, until: number) => Write,
  name = "desk",
): Promise<LeaseState> {
  const until = (await leases.now()) + leaseMs;
  const outcome = await leases.commit(attempt(), [write(await standing(leases, name), until)]);
  holds(outcome.status === "done", `a write that nothing forbids is ${outcome.status}`);
  return standing(leases, name);
}

/** Why a commit that has to be refused was. */
export function because(outcome: CommitOutcome): string {
  holds(outcome.status === "refused", `a commit that has to be refused is ${outcome.status}`);
  return outcome.refusal.because;
}
