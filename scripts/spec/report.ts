import { relative } from "node:path";

/** One test that was collected, and how it ended. `todo` and disabled tests count as skipped. */
export interface TestOutcome {
  readonly file: string;
  readonly title: string;
  /** The names of the suites around the test and its title, joined by " > ". */
  readonly fullTitle: string;
  readonly state: "passed" | "failed" | "skipped";
}

/** What one run of the test runner left behind. */
export interface TestRun {
  readonly tests: readonly TestOutcome[];
  /** Files that failed outside any test: they did not load, or a hook of theirs threw. */
  readonly brokenFiles: readonly string[];
  /** The runner's own word, which also counts errors outside of any file. */
  readonly success: boolean;
}

interface JsonTest {
  readonly ancestorTitles: readonly string[];
  readonly title: string;
  readonly status: string;
}

interface JsonFile {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly JsonTest[];
}

interface JsonReport {
  readonly success: boolean;
  readonly testResults: readonly JsonFile[];
}

/**
 * Reads the text of the runner's JSON report; files are told relative to `root`.
 *
 * @throws Error when the text is not such a report.
 */
export function readReport(text: string, root: string): TestRun {
  const report: unknown = JSON.parse(text);
  if (!isReport(report)) throw new Error("this is not a JSON report of the test runner");
  const tests: TestOutcome[] = [];
  const brokenFiles: string[] = [];
  for (const { name, status, assertionResults } of report.testResults) {
    const file = relative(root, name).replaceAll("\\", "/");
    for (const test of assertionResults) {
      tests.push({
        file,
        title: test.title,
        fullTitle: [...test.ancestorTitles, test.title].join(" > "),
        state: stateOf(test.status),
      });
    }
    const failedTests = assertionResults.some((test) => test.status === "failed");
    if (status === "failed" && !failedTests) brokenFiles.push(file);
  }
  return { tests, brokenFiles, success: report.success };
}

function stateOf(status: string): TestOutcome["state"] {
  return status === "passed" || status === "failed" ? status : "skipped";
}

function isReport(value: unknown): value is JsonReport {
  if (typeof value !== "object" || value === null) return false;
  const { success, testResults } = value as Partial<JsonReport>;
  return (
    typeof success === "boolean" &&
    Array.isArray(testResults) &&
    testResults.every(
      (file: Partial<JsonFile>) =>
        typeof file.name === "string" && Array.isArray(file.assertionResults),
    )
  );
}
