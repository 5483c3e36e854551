import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { closingLine } from "../../../scripts/spec/closing-line.ts";
import { findFaults, sayFault } from "../../../scripts/spec/faults.ts";
import { readIdBook } from "../../../scripts/spec/id-book.ts";
import { compareIds, leadingIds } from "../../../scripts/spec/id.ts";
import { readReport } from "../../../scripts/spec/report.ts";
import type { TestOutcome, TestRun } from "../../../scripts/spec/report.ts";
import { joinRows } from "../../../scripts/spec/rows.ts";
import { drawTable } from "../../../scripts/spec/table.ts";

const file = "packages/seal/test/numbers.test.ts";

function test(title: string, state: TestOutcome["state"] = "passed"): TestOutcome {
  return { file, title, fullTitle: `numbers > ${title}`, state };
}

function runOf(...tests: TestOutcome[]): TestRun {
  return {
    tests,
    brokenFiles: [],
    success: tests.every((each) => each.state !== "failed"),
  };
}

function bookOf(states: Record<string, "planned" | "done">) {
  const entries = Object.entries(states).map(([id, state]) => [id, { says: `${id} says.`, state }]);
  return readIdBook(JSON.stringify(Object.fromEntries(entries)), "ids.json");
}

describe("the ids of a title", () => {
  it.each([
    ["SEAL-07 keeps -0 apart", ["SEAL-07"]],
    ["SEAL-03 SEAL-23 keeps NaN", ["SEAL-03", "SEAL-23"]],
    ["SEAL-03, SEAL-23: keeps NaN", ["SEAL-03", "SEAL-23"]],
    ["R001 P1 survives", ["R001", "P1"]],
    ["SEAL-03 SEAL-03 keeps NaN", ["SEAL-03"]],
    ["keeps what SEAL-07 says", []],
    ["SEAL keeps", []],
    ["", []],
  ])("ARCH-15 are those that lead it: %j", (title, ids) => {
    expect(leadingIds(title)).toEqual(ids);
  });

  it("ARCH-15 are ordered by family and number", () => {
    const ids = ["TOOL-01", "SEAL-10", "R002", "SEAL-9", "R001"];
    expect(ids.toSorted(compareIds)).toEqual(["R001", "R002", "SEAL-9", "SEAL-10", "TOOL-01"]);
  });
});

describe("a green spec", () => {
  it("ARCH-15 has a passing test for each done id and asks none for a planned one", () => {
    const book = bookOf({ "SEAL-01": "done", "SEAL-02": "planned" });
    expect(findFaults(book, runOf(test("SEAL-01 keeps null")))).toEqual([]);
  });

  it("ARCH-15 counts one test for every id that leads its title", () => {
    const book = bookOf({ "SEAL-01": "done", "SEAL-02": "done" });
    const rows = joinRows(book, runOf(test("SEAL-01 SEAL-02 keeps 1")).tests);
    expect(rows.map(({ id, ok, tests }) => [id, ok, tests.length])).toEqual([
      ["SEAL-01", true, 1],
      ["SEAL-02", true, 1],
    ]);
  });

  it("ARCH-15 stays green when an id becomes done", () => {
    const earlier = [{ name: "HEAD", book: bookOf({ "SEAL-01": "planned" }) }];
    const book = bookOf({ "SEAL-01": "done" });
    expect(findFaults(book, runOf(test("SEAL-01 keeps null")), earlier)).toEqual([]);
  });
});

describe("a red spec", () => {
  it("ARCH-15 names a done id that no test carries", () => {
    const faults = findFaults(bookOf({ "SEAL-01": "done" }), runOf());
    expect(faults).toEqual([{ kind: "unproven", id: "SEAL-01" }]);
  });

  it("ARCH-15 takes no proof from a skipped test", () => {
    const faults = findFaults(
      bookOf({ "SEAL-01": "done" }),
      runOf(test("SEAL-01 keeps null", "skipped")),
    );
    expect(faults).toEqual([{ kind: "unproven", id: "SEAL-01" }]);
  });

  it("ARCH-15 names a failing test of a done id, even beside a passing one", () => {
    const broken = test("SEAL-01 keeps true", "failed");
    const run = runOf(test("SEAL-01 keeps null"), broken);
    const book = bookOf({ "SEAL-01": "done" });
    expect(findFaults(book, run)).toEqual([
      { kind: "test-failed", ids: ["SEAL-01"], test: broken },
    ]);
    expect(joinRows(book, run.tests)[0]?.ok).toBe(false);
  });

  it("ARCH-15 names a test with an id that nobody defined", () => {
    const stray = test("SEAL-99 keeps null");
    const faults = findFaults(bookOf({ "SEAL-01": "planned" }), runOf(stray));
    expect(faults).toEqual([{ kind: "unknown-id", id: "SEAL-99", test: stray }]);
  });

  it("ARCH-15 names a done id that went back to planned, once", () => {
    const before = bookOf({ "SEAL-01": "done" });
    const earlier = ["HEAD", "HEAD~1"].map((name) => ({ name, book: before }));
    const faults = findFaults(bookOf({ "SEAL-01": "planned" }), runOf(), earlier);
    expect(faults).toEqual([{ kind: "went-back", id: "SEAL-01", since: "HEAD" }]);
  });

  it("ARCH-15 names a done id that vanished", () => {
    const earlier = [{ name: "HEAD", book: bookOf({ "SEAL-01": "done" }) }];
    const faults = findFaults(bookOf({ "SEAL-02": "planned" }), runOf(), earlier);
    expect(faults).toEqual([{ kind: "went-back", id: "SEAL-01", since: "HEAD" }]);
  });

  it("ARCH-15 names a file that failed before its tests, and a run that failed outside of any", () => {
    const book = bookOf({});
    expect(findFaults(book, { tests: [], brokenFiles: [file], success: false })).toEqual([
      { kind: "file-broken", file },
    ]);
    expect(findFaults(book, { tests: [], brokenFiles: [], success: false })).toEqual([
      { kind: "run-failed" },
    ]);
  });

  it("ARCH-13 ARCH-15 names a title that two tests of a package share, by suite and title", () => {
    const twin = test("keeps null");
    const elsewhere = { ...twin, file: twin.file.replace(/[^/]+$/, "another.test.ts") };
    const ofAnother = { ...twin, file: "packages/tools/test/a.test.ts" };
    const other = { ...twin, fullTitle: "others > keeps null" };
    expect(findFaults(bookOf({}), runOf(twin, elsewhere, ofAnother, other))).toEqual([
      { kind: "duplicate-title", title: "numbers > keeps null" },
    ]);
  });

  it("ARCH-15 says each fault in one line", () => {
    const broken = test("SEAL-99 keeps true", "failed");
    const earlier = [{ name: "HEAD", book: bookOf({ "SEAL-02": "done" }) }];
    const run = { ...runOf(broken, broken), brokenFiles: [file] };
    const said = findFaults(bookOf({ "SEAL-01": "done" }), run, earlier).map(sayFault);
    expect(said.length).toBeGreaterThanOrEqual(6);
    for (const line of said) expect(line).toMatch(/^\S[^\n]+$/);
  });
});

describe("the book of ids", () => {
  const entry = { says: "It holds.", state: "planned" };

  it.each([
    ["a list", []],
    ["a word that is no id", { seal: entry }],
    ["an unknown state", { "SEAL-01": { says: "It holds.", state: "almost" } }],
    ["an empty sentence", { "SEAL-01": { says: " ", state: "done" } }],
    ["a further field", { "SEAL-01": { ...entry, note: "" } }],
    ["another order", { "SEAL-02": entry, "SEAL-01": entry }],
  ])("ARCH-15 is refused with %s", (_, value) => {
    expect(() => readIdBook(JSON.stringify(value), "ids.json")).toThrow(/^ids\.json:/);
  });
});

describe("a runner's report", () => {
  const root = "/repo";
  const report = {
    success: false,
    testResults: [
      {
        name: join(root, file),
        status: "failed",
        assertionResults: [
          { ancestorTitles: ["numbers"], title: "SEAL-01 keeps 1", status: "passed" },
          { ancestorTitles: [], title: "keeps 2", status: "failed" },
          { ancestorTitles: [], title: "keeps 3", status: "todo" },
        ],
      },
      { name: join(root, "apps/desk/test/a.test.ts"), status: "failed", assertionResults: [] },
    ],
  };

  it("ARCH-15 is read with files relative to the repository", () => {
    expect(readReport(JSON.stringify(report), root)).toEqual({
      success: false,
      brokenFiles: ["apps/desk/test/a.test.ts"],
      tests: [
        {
          file,
          title: "SEAL-01 keeps 1",
          fullTitle: "numbers > SEAL-01 keeps 1",
          state: "passed",
        },
        { file, title: "keeps 2", fullTitle: "keeps 2", state: "failed" },
        { file, title: "keeps 3", fullTitle: "keeps 3", state: "skipped" },
      ],
    });
  });

  it.each(["null", "{}", '{"success":true,"testResults":[{}]}'])(
    "ARCH-15 is refused when it is another text: %s",
    (text) => {
      expect(() => readReport(text, root)).toThrow(/not a JSON report/);
    },
  );
});

describe("the table", () => {
  it("ARCH-15 counts ids, done, passing, carried and claims by family", () => {
    const book = bookOf({ "APR-01": "done", "SEAL-01": "done", "SEAL-02": "planned" });
    const tests = [test("SEAL-01 a"), test("SEAL-01 b"), test("SEAL-02 c", "failed")];
    const lines = drawTable(joinRows(book, tests))
      .split("\n")
      .map((line) => line.trim().split(/\s{2,}/));
    expect(lines).toEqual([
      ["ids", "done", "passing", "with tests", "test claims"],
      ["APR", "1", "1", "0", "0", "0"],
      ["SEAL", "2", "1", "1", "2", "3"],
      ["all", "3", "2", "1", "2", "3"],
    ]);
  });
});

describe("the line that a run ends in", () => {
  it("ARCH-15 counts as failed whatever makes the spec red, failing tests or not", () => {
    const run = runOf(
      test("SEAL-01 keeps null"),
      test("SEAL-02 keeps 1", "failed"),
      test("SEAL-03 keeps 2", "skipped"),
    );
    const book = bookOf({ "SEAL-01": "done", "SEAL-02": "planned", "SEAL-03": "done" });
    expect(closingLine(run, findFaults(book, run))).toBe("1 passed, 2 failed, 1 skipped");
  });

  it("ARCH-15 fails a run in which no test failed but something else did", () => {
    const run = { ...runOf(test("SEAL-01 keeps null")), success: false };
    const faults = findFaults(bookOf({ "SEAL-01": "done" }), run);
    expect(closingLine(run, faults)).toBe("1 passed, 1 failed, 0 skipped");
  });
});
