import { execFileSync } from "node:child_process";

import type { EarlierBook } from "./faults.ts";
import { readIdBook } from "./id-book.ts";

const BOOK = "docs/spec/ids.json";

/**
 * The id books of the commits that a change is measured against: the last commit, its parent (so
 * that a step back is still seen on `main` once it is committed), and where the branch left `main`.
 * Where there is no git, no such commit or no book in it, there is nothing to compare.
 */
export function readEarlierBooks(root: string): EarlierBook[] {
  const commits = new Map<string, string>();
  for (const name of ["HEAD", "HEAD~1"]) addCommit(commits, name, revision(root, name));
  for (const main of ["main", "origin/main"]) {
    addCommit(commits, `the merge base of ${main}`, git(root, "merge-base", "HEAD", main));
  }
  return [...commits].flatMap(([commit, name]) => {
    const text = git(root, "show", `${commit}:${BOOK}`);
    return text === undefined ? [] : [{ name, book: readIdBook(text, `${BOOK} at ${name}`) }];
  });
}

function revision(root: string, name: string): string | undefined {
  return git(root, "rev-parse", "--verify", "--quiet", `${name}^{commit}`);
}

function addCommit(commits: Map<string, string>, name: string, hash: string | undefined): void {
  if (hash !== undefined && !commits.has(hash)) commits.set(hash, name);
}

function git(root: string, ...args: string[]): string | undefined {
  try {
    return execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined; // git says no by its exit code: the commit or the file is not there
  }
}
