import { coreCases, type CoreVectors } from "./core-cases.ts";

/** Runs the core where there is no test runner. */
function holdpointCore(vectors: CoreVectors): { passed: number; failed: string[] } {
  const failed: string[] = [];
  let passed = 0;
  // The expressions are this repository's own; a page has no other way to read one.
  // oxlint-disable-next-line typescript/no-implied-eval -- vectors are expressions
  const cases = coreCases(vectors, (js) => Function(`return (${js})`)() as unknown);
  for (const { title, run } of cases) {
    try {
      run();
      passed++;
    } catch (error) {
      failed.push(`${title}: ${String(error)}`);
    }
  }
  return { passed, failed };
}

(globalThis as { holdpointCore?: typeof holdpointCore }).holdpointCore = holdpointCore;
