import { duplicateTitles, type Titled } from "./duplicate-titles.ts";
import { leadingIds } from "./id.ts";
import type { IdBook } from "./id-book.ts";
import type { TestOutcome, TestRun } from "./report.ts";
import { joinRows } from "./rows.ts";

/** A reason for which the spec is red. */
export type Fault =
  | { readonly kind: "unproven"; readonly id: string }
  | { readonly kind: "test-failed"; readonly ids: readonly string[]; readonly test: TestOutcome }
  | { readonly kind: "file-broken"; readonly file: string }
  | { readonly kind: "run-failed" }
  | { readonly kind: "unknown-id"; readonly id: string; readonly test: TestOutcome }
  | { readonly kind: "went-back"; readonly id: string; readonly since: string }
  | { readonly kind: "duplicate-title"; readonly title: string };

/** An earlier state of the book, and how a person would call the commit that it is from. */
export interface EarlierBook {
  readonly name: string;
  readonly book: IdBook;
}

/** Everything that is wrong, told at once; an empty list is a green spec. */
export function findFaults(
  book: IdBook,
  run: TestRun,
  earlier: readonly EarlierBook[] = [],
): Fault[] {
  return [
    ...findUnproven(book, run),
    ...findFailed(run),
    ...findUnknown(book, run),
    ...findReturns(book, earlier),
    ...duplicateTitles(run.tests.map(titled)).map((title): Fault => ({
      kind: "duplicate-title",
      title,
    })),
  ];
}

function titled({ file, fullTitle }: TestOutcome): Titled {
  return { of: file.split("/").slice(0, 2).join("/"), fullTitle };
}

// A done id whose test failed is told by the failed test alone.
function findUnproven(book: IdBook, run: TestRun): Fault[] {
  return joinRows(book, run.tests)
    .filter((row) => row.state === "done" && !row.ok)
    .filter((row) => !row.tests.some((test) => test.state === "failed"))
    .map(({ id }) => ({ kind: "unproven", id }));
}

// Any failure is a fault, whatever it carries: a suite that is partly red proves nothing as a whole.
function findFailed(run: TestRun): Fault[] {
  const faults: Fault[] = [];
  for (const test of run.tests) {
    if (test.state === "failed") {
      faults.push({ kind: "test-failed", ids: leadingIds(test.title), test });
    }
  }
  for (const file of run.brokenFiles) faults.push({ kind: "file-broken", file });
  if (faults.length === 0 && !run.success) faults.push({ kind: "run-failed" });
  return faults;
}

function findUnknown(book: IdBook, run: TestRun): Fault[] {
  return run.tests.flatMap((test) =>
    leadingIds(test.title)
      .filter((id) => !book.has(id))
      .map((id): Fault => ({ kind: "unknown-id", id, test })),
  );
}

// An id that vanished has gone back too. Each id is told once, by the first book that shows it.
function findReturns(book: IdBook, earlier: readonly EarlierBook[]): Fault[] {
  const faults = new Map<string, Fault>();
  for (const { name, book: before } of earlier) {
    for (const [id, { state }] of before) {
      if (state !== "done" || book.get(id)?.state === "done" || faults.has(id)) continue;
      faults.set(id, { kind: "went-back", id, since: name });
    }
  }
  return [...faults.values()];
}

/** One sentence for a person. */
export function sayFault(fault: Fault): string {
  switch (fault.kind) {
    case "unproven":
      return `${fault.id} is done, but no passing test carries it`;
    case "test-failed":
      return `failed: ${fault.test.file}: ${fault.test.fullTitle}`;
    case "file-broken":
      return `${fault.file} failed outside its tests`;
    case "run-failed":
      return "the test run failed outside of any test";
    case "unknown-id":
      return `${fault.id} is no id of docs/spec/ids.json: ${fault.test.file}: ${fault.test.title}`;
    case "went-back":
      return `${fault.id} was done at ${fault.since} and is not any more`;
    case "duplicate-title":
      return `two tests have the title: ${fault.title}`;
  }
}
