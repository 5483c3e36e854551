import { listCases } from "./contract/lists.ts";
import type { RegistryCase } from "./contract/registry-case.ts";
import { rowCases } from "./contract/rows.ts";

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
