import { leaseCases } from "./contract/leases.ts";
import type { LeaseCase } from "./contract/lease-case.ts";
import { outboxCases, type OutboxCase } from "./contract/outboxes.ts";
import { listCases } from "./contract/lists.ts";
import type { RegistryCase } from "./contract/registry-case.ts";
import { rowCases } from "./contract/rows.ts";

export type { MakeOutbox, OutboxCase, OutboxUnderTest } from "./contract/outboxes.ts";
export type { LeaseCase, LeasesUnderTest, MakeLeases } from "./contract/lease-case.ts";
export {
  ContractFailure,
  type MakeRegistry,
  type RegistryCase,
  type RegistryUnderTest,
} from "./contract/registry-case.ts";

/**
 * What every registry of runs has to hold: named cases, without a test runner. Each makes a registry of its own by the
 * function it is given, and rejects where its claim does not hold.
 *
 * @example
 * for (const { name, run } of runRegistryCases) it(name, () => run(makeMyRegistry));
 */
export const runRegistryCases: readonly RegistryCase[] = [...rowCases, ...listCases];

/** What every store of leases has to hold, in the same form. */
export const leaseStoreCases: readonly LeaseCase[] = leaseCases;

/** What every outbox has to hold, in the same form. */
export const outboxStoreCases: readonly OutboxCase[] = outboxCases;
