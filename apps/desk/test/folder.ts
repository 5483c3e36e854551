import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { onTestFinished } from "vitest";

/** A folder that ends with the test. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "desk-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
