import { changeCases } from "./contract/changes.ts";
import { commitCases } from "./contract/commits.ts";
import { listCases } from "./contract/lists.ts";
import { raceCases } from "./contract/races.ts";
import { readNowCases } from "./contract/reads-now.ts";
import { recordCases } from "./contract/records.ts";
import type { StoreCase } from "./contract/store-case.ts";

export {
  ContractFailure,
  type MakeStore,
  type StoreCase,
  type StoreUnderTest,
} from "./contract/store-case.ts";

/**
 * What every approval store has to hold (APR-24): named cases, without a test runner. Each makes a store of its own by the
 * function it is given, and rejects where its claim does not hold.
 *
 * @example
 * for (const { name, run } of approvalStoreCases) it(name, () => run(makeMyStore));
 */
export const approvalStoreCases: readonly StoreCase[] = [
  ...commitCases,
  ...raceCases,
  ...listCases,
  ...changeCases,
  ...recordCases,
  ...readNowCases,
];
