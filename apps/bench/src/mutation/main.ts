/**
 * Mutation testing of `packages/seal`: `node src/mutation/main.ts [share] [seed] [workers] [places]`. Each mutant is one
 * small change of the source; the tests have to notice it. Writes `docs/reports/seal-mutation.md`. Mutants are taken in an order
 * that a smaller share is the beginning of: a run that is ended early (SIGTERM) reports what such a share would have.
 * `places` is a regular expression for `file:line kind`: only what it matches is mutated, and no report is written.
 *
 * Two passes. Most mutants fall to the quick tests, many to a process (`worker.ts`). What these leave alive is shown by vitest, one
 * process a mutant (`suite.ts`), to the files of which a test was left out: those that need fresh modules, and those that take long.
 */
import { fork, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

import { mutantsOf, type Mutant } from "./mutants.ts";
import { LATE, placeOf, reportOf, type Result } from "./seal-report.ts";
import { Suite } from "./suite.ts";

const PACKAGE = new URL("../../../../packages/seal/", import.meta.url);
const REPORT = new URL("../../../../docs/reports/seal-mutation.md", import.meta.url);
/**
 * A mutant that takes so many times the processor time that all tests take on the unchanged source is taken for an endless loop,
 * which a test run would notice. Not the time on the wall: that is the other programs' too.
 */
const STUCK_TIMES = 3;
const LOOK_MS = 500;
/** Modules of a mutant are never given back: a fresh process after so many. */
const PER_PROCESS = 150;
/** What may say more of what earlier mutants left in the process than of the mutant: asked again in a fresh one. */
const DOUBTFUL: readonly unknown[] = ["crash", "doubtful"];
/** What leaves a process that is of no more use. */
const LAST: readonly unknown[] = [...DOUBTFUL, "stuck"];
/** Tests of times and of memory, of other runtimes, and of the text of a page. */
const LEFT_OUT = ["cost", "hostile", "runtimes", "readme"];

const share = Number(process.argv[2] ?? "1");
const seed = Number(process.argv[3] ?? "1");
const workers = Number(process.argv[4] ?? "2");
const wanted = new RegExp(process.argv[5] ?? ".");

const texts = new Map(
  readdirSync(new URL("src", PACKAGE), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && name !== "index.ts")
    .toSorted()
    .map((name) => {
      const file = `src/${name}`;
      return [file, stripTypeScriptTypes(readFileSync(new URL(file, PACKAGE), "utf8"))];
    }),
);
const all = [...texts].flatMap(([file, text]) => mutantsOf(file, text));
const places = new Map(
  all.map((mutant, i) => [mutant, ((i * 7919 + seed * 104_729) % 1000) / 1000]),
);
const mutants = all
  .filter((mutant) => places.get(mutant)! < share && wanted.test(placeOf(mutant)))
  .toSorted((a, b) => places.get(a)! - places.get(b)!);

const results: Result[] = [];
let tests = 0;
/** Test files whose every test is a quick one. */
let whole: readonly string[] = [];
let allTestsMs = 0;

/** Processor time of a process so far, as Linux tells it in hundredths of a second. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

function start(): Promise<ChildProcess> {
  const child = fork(new URL("worker.ts", import.meta.url), { silent: false });
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("the tests could not be loaded")));
    child.once("message", (message: { tests: number; whole: readonly string[]; cpuMs: number }) => {
      child.removeAllListeners();
      ({ tests, whole, cpuMs: allTestsMs } = message);
      resolve(child);
    });
  });
}

function ask(child: ChildProcess, mutant: Mutant, number: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const bound = cpuMsOf(child.pid!) + STUCK_TIMES * allTestsMs;
    const settle = (by: string | undefined): void => {
      clearInterval(timer);
      child.removeAllListeners();
      if (LAST.includes(by)) child.kill("SIGKILL");
      resolve(by);
    };
    const timer = setInterval(() => {
      if (child.exitCode === null && cpuMsOf(child.pid!) > bound) settle("stuck");
    }, LOOK_MS);
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
    let by = await ask(child, mutant, number);
    if (DOUBTFUL.includes(by) && served > 0) {
      child = await start();
      by = await ask(child, mutant, number);
    }
    served++;
    if (LAST.includes(by)) child = undefined;
    results.push({ mutant, by });
    if (by === undefined || by === "stuck") {
      process.stdout.write(`${by ?? "left alive by quick tests"}: ${placeOf(mutant)}\n`);
    }
    if (results.length % 20 === 0) say(mutants.length);
  }
  child?.kill("SIGKILL");
}

function alive(): Result[] {
  return results.filter(({ by }) => by === undefined);
}

function say(whole: number): void {
  process.stdout.write(`${results.length} of ${whole}, ${alive().length} alive\n`);
}

/** Shows what is alive to the tests that were not shown it. */
function lookAgain(): void {
  const leftOut = new RegExp(`^(?:${[...LEFT_OUT, ...whole].join("|")})\\.test\\.ts$`);
  const suite = new Suite("seal", texts, { leftOut, isolate: true });
  suite.listen();
  for (const result of alive()) {
    if (suite.noticesAgain(result.mutant)) result.by = LATE;
    process.stdout.write(`${result.by ?? "alive"}: ${placeOf(result.mutant)}\n`);
  }
  suite.checkUnmutated();
}

const waiting = [...mutants.entries()];
process.once("SIGTERM", () => waiting.splice(0));
await Promise.all(Array.from({ length: workers }, () => serve(waiting)));
say(results.length);
if (alive().length > 0) lookAgain();
say(results.length);
if (process.argv[5] === undefined) {
  results.sort((a, b) => all.indexOf(a.mutant) - all.indexOf(b.mutant));
  const command = `node apps/bench/src/mutation/main.ts ${share} ${seed}`;
  writeFileSync(REPORT, reportOf({ command, results, texts, all: all.length, tests }));
}
