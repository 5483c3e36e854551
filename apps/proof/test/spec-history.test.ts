import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { readEarlierBooks } from "../../../scripts/spec/history.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdpoint-history-"));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function git(...args: string[]): void {
  const who = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
  execFileSync("git", [...who, ...args], { cwd: root, stdio: "ignore" });
}

function commitBook(state: "planned" | "done"): void {
  mkdirSync(join(root, "docs/spec"), { recursive: true });
  const book = { "SEAL-01": { says: "It holds.", state } };
  writeFileSync(join(root, "docs/spec/ids.json"), JSON.stringify(book));
  git("add", ".");
  git("commit", "--allow-empty", "-m", `It is ${state}`);
}

function namesAndStates(): (string | undefined)[][] {
  return readEarlierBooks(root).map(({ name, book }) => [name, book.get("SEAL-01")?.state]);
}

describe("earlier books", () => {
  it("ARCH-15 are read from the last commit, its parent and where the branch left main", () => {
    git("init", "--initial-branch=main");
    commitBook("done");
    git("checkout", "-b", "change");
    for (const state of ["planned", "planned", "planned"] as const) commitBook(state);
    expect(namesAndStates()).toEqual([
      ["HEAD", "planned"],
      ["HEAD~1", "planned"],
      ["the merge base of main", "done"],
    ]);
  });

  it("ARCH-15 show on main what its last commit took back", () => {
    git("init", "--initial-branch=main");
    commitBook("done");
    commitBook("planned");
    expect(namesAndStates()).toEqual([
      ["HEAD", "planned"],
      ["HEAD~1", "done"],
    ]);
  });

  it("ARCH-15 are none without git, without a commit and without a book", () => {
    expect(readEarlierBooks(root)).toEqual([]);
    git("init", "--initial-branch=main");
    expect(readEarlierBooks(root)).toEqual([]);
    git("commit", "--allow-empty", "-m", "Nothing yet");
    expect(readEarlierBooks(root)).toEqual([]);
  });
});
