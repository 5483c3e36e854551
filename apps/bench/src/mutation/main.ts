/**
 * Mutation testing of `packages/seal`: `node src/mutation/main.ts [share] [seed] [workers]`. Each mutant is one
 * small change of the source; the tests have to notice it. Writes `docs/reports/seal-mutation.md`. Mutants are taken in an order
 * that a smaller share is the beginning of: a run that is ended early (SIGTERM) reports what such a share would have.
 */
import { fork, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

import { mutantsOf, type Mutant } from "./mutants.ts";

const PACKAGE = new URL("../../../../packages/seal/", import.meta.url);
const REPORT = new URL("../../../../docs/reports/seal-mutation.md", import.meta.url);
/**
 * A mutant that takes so many times what all tests take on the unchanged source is taken for an endless loop, which a
 * test run would notice.
 */
const STUCK_TIMES = 4;
/** Modules of a mutant are never given back: a fresh process after so many. */
const PER_PROCESS = 150;

const share = Number(process.argv[2] ?? "1");
const seed = Number(process.argv[3] ?? "1");
const workers = Number(process.argv[4] ?? "2");

const files = readdirSync(new URL("src", PACKAGE), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && name !== "index.ts")
  .toSorted();
const all = files.flatMap((name) => {
  const file = `src/${name}`;
  return mutantsOf(file, stripTypeScriptTypes(readFileSync(new URL(file, PACKAGE), "utf8")));
});
const places = new Map(
  all.map((mutant, i) => [mutant, ((i * 7919 + seed * 104_729) % 1000) / 1000]),
);
const mutants = all
  .filter((mutant) => places.get(mutant)! < share)
  .toSorted((a, b) => places.get(a)! - places.get(b)!);

interface Result {
  readonly mutant: Mutant;
  readonly by: string | undefined;
}
const results: Result[] = [];
const children = new Set<ChildProcess>();
let tests = 0;
let allTestsMs = 0;

function start(): Promise<ChildProcess> {
  const child = fork(new URL("worker.ts", import.meta.url), { silent: false });
  children.add(child);
  child.once("exit", () => children.delete(child));
  const before = performance.now();
  return new Promise((resolve) => {
    child.once("message", (message: { tests: number }) => {
      tests = message.tests;
      allTestsMs = performance.now() - before;
      resolve(child);
    });
  });
}

function ask(child: ChildProcess, mutant: Mutant, number: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const settle = (by: string | undefined): void => {
      clearTimeout(timer);
      child.removeAllListeners();
      resolve(by);
    };
    const timer = setTimeout(() => settle("stuck"), STUCK_TIMES * allTestsMs);
    child.once("exit", () => settle("crash"));
    child.once("message", (message: { by?: string }) => settle(message.by));
    child.send({ mutant, number });
  });
}

/** Takes mutants from the list until there are none. */
async function serve(waiting: (readonly [number, Mutant])[]): Promise<void> {
  let child: ChildProcess | undefined;
  let served = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [number, mutant] = next;
    if (child === undefined || served >= PER_PROCESS) {
      child?.kill("SIGKILL");
      child = await start();
      served = 0;
    }
    const by = await ask(child, mutant, number);
    served++;
    if (by === "stuck" || by === "crash") {
      child.kill("SIGKILL");
      child = undefined;
    }
    results.push({ mutant, by });
    if (by === undefined)
      process.stdout.write(`alive: ${mutant.file}:${mutant.line} ${mutant.kind}\n`);
    if (results.length % 20 === 0) {
      process.stdout.write(`${results.length} of ${mutants.length}, ${survivors().length} alive\n`);
    }
  }
  child?.kill("SIGKILL");
}

function survivors(): Result[] {
  return results.filter((result) => result.by === undefined);
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`;
}

function report(): string {
  const killed = results.length - survivors().length;
  const endless = results.filter(({ by }) => by === "stuck").length;
  const byFile = files.map((name) => {
    const own = results.filter((result) => result.mutant.file === `src/${name}`);
    const dead = own.filter((result) => result.by !== undefined).length;
    return `| ${name} | ${own.length} | ${dead} | ${percent(dead, own.length)} |`;
  });
  const alive = survivors().map(
    ({ mutant }) => `| ${mutant.file.slice(4)}:${mutant.line} | ${mutant.kind} |`,
  );
  return [
    "# Mutation testing of `@holdpoint/seal`",
    "",
    `\`node apps/bench/src/mutation/main.ts ${share} ${seed}\` on Node ${process.versions.node}: ${results.length} of ${all.length} mutants, ${tests} tests.`,
    `**${killed} killed, ${percent(killed, results.length)}**, ${endless} of them by not ending. A mutant is one change: an operator, a condition, a literal, a statement or block left out.`,
    "Strings that only word a message are not mutated, and tests that need fresh modules or more than a second of processor time are not among the tests.",
    "",
    "| file | mutants | killed | |",
    "| --- | --- | --- | --- |",
    ...byFile.filter((row) => !row.includes("| 0 | 0 |")),
    "",
    "## Alive",
    "",
    "| place | change |",
    "| --- | --- |",
    ...alive,
    "",
  ].join("\n");
}

function finish(): void {
  results.sort((a, b) => all.indexOf(a.mutant) - all.indexOf(b.mutant));
  writeFileSync(REPORT, report());
  process.stdout.write(`${results.length} mutants, ${survivors().length} alive\n`);
}

process.once("SIGTERM", () => {
  finish();
  for (const child of children) child.kill("SIGKILL");
  process.exit();
});
const waiting = [...mutants.entries()];
await Promise.all(Array.from({ length: workers }, () => serve(waiting)));
finish();
