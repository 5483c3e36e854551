import type { Fault } from "./faults.ts";
import type { TestRun } from "./report.ts";

/**
 * The line that a run ends in: `N passed, N failed, N skipped`.
 * Whatever makes the spec red counts as failed, so that the line is never greener than the exit code.
 */
export function closingLine({ tests }: TestRun, faults: readonly Fault[]): string {
  const passed = tests.filter(({ state }) => state === "passed").length;
  const skipped = tests.filter(({ state }) => state === "skipped").length;
  return `${passed} passed, ${faults.length} failed, ${skipped} skipped`;
}
