import type { Reporter, SerializedError, TestModule } from "vitest/node";

import { duplicateTitles, type Titled } from "./spec/duplicate-titles.ts";

/**
 * Prints one plain closing line after everything else: `N passed, N failed, N skipped`.
 * A title that two tests of the suite share counts as a failure and turns the run red.
 */
export default class PlainReporter implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: string,
  ): void {
    let passed = 0;
    let failed = errors.length;
    let skipped = 0;
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed++;
        else if (state === "failed") failed++;
        else skipped++;
      }
      if (module.state() === "failed" && module.errors().length > 0) failed++;
    }
    for (const title of duplicateTitles(titled(modules))) {
      process.stdout.write(`\ntwo tests have the title: ${title}`);
      process.exitCode = 1;
      failed++;
    }
    if (reason === "failed" && failed === 0) failed = 1;
    process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  }
}

function titled(modules: readonly TestModule[]): Titled[] {
  return modules.flatMap(({ children, project }) =>
    [...children.allTests()].map(({ fullName }) => ({ of: project.name, fullTitle: fullName })),
  );
}
