import { leadingIds } from "./id.ts";
import type { IdBook, SpecEntry } from "./id-book.ts";
import type { TestOutcome } from "./report.ts";

/** One id with the tests that carry it; `ok` is at least one passing test and no failing one. */
export interface SpecRow {
  readonly id: string;
  readonly state: SpecEntry["state"];
  readonly ok: boolean;
  readonly tests: readonly Pick<TestOutcome, "file" | "title" | "state">[];
}

/** Joins every id of the book with the tests whose titles it leads. */
export function joinRows(book: IdBook, tests: readonly TestOutcome[]): SpecRow[] {
  const carried = new Map<string, SpecRow["tests"][number][]>();
  for (const { file, title, state } of tests) {
    for (const id of leadingIds(title)) {
      const list = carried.get(id) ?? [];
      list.push({ file, title, state });
      carried.set(id, list);
    }
  }
  return [...book].map(([id, { state }]) => {
    const own = carried.get(id) ?? [];
    return { id, state, ok: isProven(own), tests: own };
  });
}

// A skipped test proves nothing, and does not take away what another one proves.
function isProven(tests: SpecRow["tests"]): boolean {
  return (
    tests.some((test) => test.state === "passed") && !tests.some((test) => test.state === "failed")
  );
}
