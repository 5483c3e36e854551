// Joins docs/spec/ids.json with the tests that carry the ids.
//   node scripts/spec.ts                     runs the tests, prints a table, what is wrong, and last
//                                            `N passed, N failed, N skipped`
//   node scripts/spec.ts --json              prints [{ id, state, ok, tests }] and nothing else
//   node scripts/spec.ts --from report.json  reads a report of the test runner instead of running
// Exit code 1: something is wrong with the spec or its tests; 2: it could not be found out.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { closingLine } from "./spec/closing-line.ts";
import { findFaults, sayFault } from "./spec/faults.ts";
import { readEarlierBooks } from "./spec/history.ts";
import { readIdBook } from "./spec/id-book.ts";
import { readReport } from "./spec/report.ts";
import { joinRows } from "./spec/rows.ts";
import { runTests } from "./spec/run-tests.ts";
import { drawTable } from "./spec/table.ts";

const root = join(import.meta.dirname, "..");
const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, from: { type: "string" } },
});

try {
  main();
} catch (error) {
  console.error(`spec: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 2;
}

function main(): void {
  const book = readIdBook(readFileSync(join(root, "docs/spec/ids.json"), "utf8"), "ids.json");
  const text =
    values.from === undefined
      ? runTests(root, values.json ? "stderr" : "stdout")
      : readFileSync(values.from, "utf8");
  const run = readReport(text, root);
  const rows = joinRows(book, run.tests);
  const faults = findFaults(book, run, readEarlierBooks(root));

  console.log(values.json ? JSON.stringify(rows, undefined, 2) : drawTable(rows));
  for (const fault of faults) console.error(`spec: ${sayFault(fault)}`);
  if (!values.json) console.log(`\n${closingLine(run, faults)}`);
  if (faults.length > 0) process.exitCode = 1;
}
