/**
 * `pnpm proof mutants`: takes each promise away in a copy of the sources, and expects the tests that stand for it to fail (P15).
 * A test that can't fail proves nothing.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

import { print, stopwatch, type ProofHow } from "../command.ts";
import { mutants } from "./list.ts";
import type { Mutant } from "./mutant.ts";

const root = join(import.meta.dirname, "../../../..");
/** Folders that are no sources. */
const left: ReadonlySet<string> = new Set(["node_modules", ".git", ".turbo", "docs"]);

export async function mutantsCommand({ quick }: ProofHow): Promise<readonly string[]> {
  const took = stopwatch();
  const chosen = mutants.filter((mutant) => !quick || mutant.quick === true);
  const copy = mkdtempSync(join(tmpdir(), "holdpoint-mutants-"));
  try {
    copySources(copy);
    const faults = chosen.flatMap((mutant) => judged(copy, mutant));
    print(`${chosen.length} promises taken away, ${faults.length} unnoticed, ${took()}`);
    return faults;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function copySources(to: string): void {
  cpSync(root, to, {
    recursive: true,
    verbatimSymlinks: true, // a package's links lead to the others of the copy
    filter: (path) => {
      const parts = relative(root, path).split("/");
      return !left.has(parts[0]!) && !parts.includes("dist");
    },
  });
  symlinkSync(join(root, "node_modules"), join(to, "node_modules"));
}

function judged(copy: string, mutant: Mutant): readonly string[] {
  const { name, file, find, put } = mutant;
  const path = join(copy, file);
  const source = readFileSync(path, "utf8");
  if (source.split(find).length !== 2) return [`${name}: its place is not in ${file}`];
  writeFileSync(
    path,
    source.replace(find, () => put),
  );
  const { failed, passed } = tested(copy, mutant);
  writeFileSync(path, source);
  print(`${failed > 0 ? "noticed" : "UNNOTICED"}: ${name} (${failed} of ${failed + passed} tests)`);
  if (failed > 0) return [];
  return [passed === 0 ? `${name}: no test ran` : `${name}: ${passed} tests passed all the same`];
}

function tested(copy: string, { project, tests }: Mutant): { failed: number; passed: number } {
  const vitest = join(copy, "node_modules/vitest/vitest.mjs");
  const words = ["run", "--project", project, tests];
  const { stdout } = spawnSync(process.execPath, [vitest, ...words], {
    cwd: copy,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  const [, passed = "0", failed = "0"] = /(\d+) passed, (\d+) failed/.exec(stdout) ?? [];
  return { passed: Number(passed), failed: Number(failed) };
}
