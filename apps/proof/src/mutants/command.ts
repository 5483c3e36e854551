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
    const known = new Map<string, Counts>();
    const faults = chosen.flatMap((mutant) => judged(copy, mutant, known));
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

type Counts = Readonly<Record<"failed" | "passed", number>>;

/** What stands for a promise has to run, and to pass, while it is kept: a file that is not found would fail for ever. */
function whileWhole(copy: string, mutant: Mutant, known: Map<string, Counts>): Counts {
  const of = `${mutant.project} ${mutant.tests}`;
  const counts = known.get(of) ?? tested(copy, mutant);
  known.set(of, counts);
  return counts;
}

function judged(copy: string, mutant: Mutant, known: Map<string, Counts>): readonly string[] {
  const { name, file, find, put } = mutant;
  const path = join(copy, file);
  const source = readFileSync(path, "utf8");
  if (source.split(find).length !== 2) return [`${name}: its place is not in ${file}`];
  const whole = whileWhole(copy, mutant, known);
  if (whole.failed > 0 || whole.passed === 0)
    return [`${name}: of its tests ${whole.passed} pass and ${whole.failed} fail as things are`];
  writeFileSync(
    path,
    source.replace(find, () => put),
  );
  const { failed, passed } = tested(copy, mutant);
  writeFileSync(path, source);
  print(`${failed > 0 ? "noticed" : "UNNOTICED"}: ${name} (${failed} of ${failed + passed} tests)`);
  return failed > 0 ? [] : [`${name}: ${passed} tests passed all the same`];
}

function tested(copy: string, { project, tests }: Mutant): Counts {
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
