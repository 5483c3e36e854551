// Red when the branch changed a published package and no changeset says so, measured from where it
// left main. On main itself, and where there is no main to compare with (a shallow clone, a detached
// checkout), there is nothing to ask.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { hasReleasedChange, missingFromFirstRelease } from "./changes/first-release.ts";
import type { PackageState } from "./changes/first-release.ts";

const root = join(import.meta.dirname, "..");
const base = git("merge-base", "HEAD", "main") ?? git("merge-base", "HEAD", "origin/main");

if (base === undefined || base === git("rev-parse", "HEAD")) {
  const why = base === undefined ? "there is no main to compare with" : "this is main itself";
  console.log(`changes: nothing to check, ${why}`);
} else {
  check(base);
}

function check(since: string): void {
  const packages = readPackages(since);
  const missing = missingFromFirstRelease(packages, readChangesets());
  for (const name of missing) console.error(`changes: no changeset names ${name}`);
  if (missing.length > 0) process.exitCode = 1;
  if (!hasReleasedChange(packages)) return;
  const changeset = fileURLToPath(import.meta.resolve("@changesets/cli/bin.js"));
  const { status } = spawnSync(process.execPath, [changeset, "status", `--since=${since}`], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exitCode = 1;
}

function readPackages(since: string): PackageState[] {
  const changed = git("diff", "--name-only", since, "--", "packages")?.split("\n") ?? [];
  return readdirSync(join(root, "packages")).map((folder) => {
    const path = join(root, "packages", folder, "package.json");
    const { name, version } = JSON.parse(readFileSync(path, "utf8")) as PackageState;
    return {
      name,
      version,
      changed: changed.some((file) => file.startsWith(`packages/${folder}/`)),
    };
  });
}

function readChangesets(): string[] {
  const folder = join(root, ".changeset");
  const names = readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "README.md");
  return names.map((name) => readFileSync(join(folder, name), "utf8"));
}

function git(...args: string[]): string | undefined {
  try {
    return execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined; // git says no by its exit code
  }
}
