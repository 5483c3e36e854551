import { createSealer, type Keyring } from "@holdpoint/seal";

import type { LogRow } from "../run/log.ts";
import { Chain, chainStart } from "./chain.ts";

/**
 * Checks a run's whole log by its seals alone, without its flow: every entry is of this run, sealed, in its place, and chained
 * to the one before (FLOW-73, FLOW-74). Answers how many there are.
 * @throws FlowError `checkpoint-tampered` naming the first revision that does not hold
 */
export function verifyLog(
  rows: readonly LogRow[],
  of: { readonly keyring: Keyring; readonly scope: string; readonly runId: string },
): number {
  // Nothing is decoded, so no class has to be known.
  const forms = { sealer: createSealer({}), exact: true, reachable: undefined };
  return new Chain({ ...of, forms }).check(chainStart, rows).revision;
}
