import { describe, expect, it } from "vitest";

import type { RunStatus } from "../../src/index.ts";
import { reconcile, type LogStatus } from "../../src/run/reconcile.ts";

const open = ["pending", "running", "interrupted"] as const;

// Rows: the log. Columns: the registry's pending, running, interrupted. `>`: where the registry follows to first.
const table: readonly (readonly [LogStatus, boolean, string, string, string])[] = [
  ["none", false, "start", "fail", "fail"],
  ["running", false, "adopt > running", "adopt", "adopt > running"],
  ["paused", false, "wait > interrupted", "wait > interrupted", "wait"],
  ["paused", true, "resume > interrupted", "resume > interrupted", "resume"],
  ["completed", false, "done > completed", "done > completed", "done > completed"],
  ["failed", false, "done > failed", "done > failed", "done > failed"],
  ["to-retry", false, "retry > running", "retry", "retry > running"],
  ["cancelled", false, "done > cancelled", "done > cancelled", "done > cancelled"],
];
const rows = table.flatMap(([log, decided, ...cells]) =>
  cells.map((cell, at) => ({ log, decided, registry: open[at]!, cell })),
);

describe("reconciling a run that nobody holds", () => {
  it.each(rows)(
    "WF-21 answers $cell to a log that is $log (decided: $decided) and a registry that says $registry",
    ({ log, decided, registry, cell }) => {
      const [what, follow] = cell.split(" > ");
      expect(reconcile({ log, registry, decided })).toEqual(
        follow === undefined ? { do: what } : { do: what, follow },
      );
    },
  );

  it("WF-21 leaves a run that has ended, whatever its log says", () => {
    for (const registry of ["completed", "failed", "cancelled"] satisfies RunStatus[]) {
      for (const [log, decided] of table) {
        expect(reconcile({ log, registry, decided })).toEqual({ do: "done" });
      }
    }
  });
});
