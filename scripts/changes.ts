// `changeset status` against the commit where this branch left main: red when a package changed
// and no changeset says so. On main itself, and where there is no main to compare with (a shallow
// clone, a detached checkout), there is nothing to ask.
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(import.meta.dirname, "..");

function git(...args: string[]): string | undefined {
  try {
    return execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}

const head = git("rev-parse", "HEAD");
const base = git("merge-base", "HEAD", "main") ?? git("merge-base", "HEAD", "origin/main");
if (base === undefined || base === head) {
  console.log("changes: nothing to compare with");
} else {
  const changeset = fileURLToPath(import.meta.resolve("@changesets/cli/bin.js"));
  const { status } = spawnSync(process.execPath, [changeset, "status", `--since=${base}`], {
    cwd: root,
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
}
