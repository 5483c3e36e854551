import { describe, expect, it } from "vitest";

import { runStatuses } from "../../src/registry/moves.ts";
import { isTerminal, mayMove, mayReach, type RunStatus } from "../../src/index.ts";

// Rows: from. Columns, in this order: to. `p`: by progress, `r`: by retry alone.
const columns = ["pending", "running", "interrupted", "completed", "failed", "cancelled"] as const;
const table: Readonly<Record<RunStatus, string>> = {
  pending: ". p . . p p",
  running: ". . p p p p",
  interrupted: ". p . . p p",
  completed: ". . . . . .",
  failed: ". r . . . .",
  cancelled: ". . . . . .",
};
const rows = columns.flatMap((from) =>
  table[from].split(" ").map((mark, at) => ({ from, to: columns[at]!, mark })),
);

describe("moves of a run", () => {
  it.each(rows)("WF-10 are as the table says from $from to $to", ({ from, to, mark }) => {
    expect(mayMove(from, to)).toBe(mark === "p");
    expect(mayMove(from, to, "retry")).toBe(mark === "r");
  });

  it("WF-10 know no other status", () => {
    expect(runStatuses).toEqual(columns);
  });

  it("WF-10 end at completed, failed and cancelled", () => {
    expect(columns.filter(isTerminal)).toEqual(["completed", "failed", "cancelled"]);
  });

  it("WF-21 let a registry that fell behind reach whatever a log can", () => {
    const later = columns.filter((status) => status !== "pending");
    for (const from of ["pending", "running", "interrupted"] as const) {
      expect(columns.filter((to) => mayReach(from, to))).toEqual(later);
    }
    for (const from of ["completed", "failed", "cancelled"] as const) {
      expect(columns.filter((to) => mayReach(from, to))).toEqual([]);
    }
  });
});
