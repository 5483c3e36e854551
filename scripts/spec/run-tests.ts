import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Runs every project's tests once and returns the text of the JSON report.
 * The runner's own output goes to `stream`, so that `--json` can keep stdout for itself.
 *
 * @throws Error when the runner ended without a report.
 */
export function runTests(root: string, stream: "stdout" | "stderr"): string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-spec-"));
  try {
    const file = join(folder, "report.json");
    const { status, signal } = spawnSync(
      process.execPath,
      [
        join(root, "node_modules/vitest/vitest.mjs"),
        "run",
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${file}`,
        "--passWithNoTests",
      ],
      { cwd: root, stdio: ["ignore", stream === "stdout" ? 1 : 2, 2] },
    );
    try {
      return readFileSync(file, "utf8");
    } catch (cause) {
      throw new Error(`the tests ended without a report (${signal ?? status})`, { cause });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
