import { coreCases, type CoreVectors } from "./core-cases.ts";

/** Runs the core where there is no test runner. */
export function runCore(
  vectors: CoreVectors,
  evaluate: (js: string) => unknown,
): { passed: number; failed: string[] } {
  const failed: string[] = [];
  let passed = 0;
  for (const { title, run } of coreCases(vectors, evaluate)) {
    try {
      run();
      passed++;
    } catch (error) {
      failed.push(`${title}: ${String(error)}`);
    }
  }
  return { passed, failed };
}
