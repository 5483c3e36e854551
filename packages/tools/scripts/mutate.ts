/**
 * Mutation testing: changes the source in one place at a time and looks whether a test fails.
 *
 *   node scripts/mutate.ts [part of a file name] [every nth] > report
 *
 * A worker process changes the file, runs the tests and puts the file back; where one does not
 * answer in time, a mutant loops, and the worker is ended and started again behind it.
 */
import { fork } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { type Mutant, mutantsOf } from "./mutants.ts";

const secondsMax = 90;
const source = new URL("../src/", import.meta.url);
const [part = "", nth = "1"] = process.argv.slice(2);

const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && file.includes(part))
  .toSorted();
const texts = new Map(files.map((file) => [file, readFileSync(new URL(file, source), "utf8")]));
const mutants = files
  .flatMap((file) => mutantsOf(file, texts.get(file)!))
  .filter((_, at) => at % Number(nth) === 0);

type Verdict = "killed" | "survived" | "looped";
const verdicts: Verdict[] = [];

async function run(): Promise<void> {
  while (verdicts.length < mutants.length) await runFrom(verdicts.length);
  const count = (of: Verdict): number => verdicts.filter((verdict) => verdict === of).length;
  const killed = count("killed") + count("looped");
  const percent = ((killed / mutants.length) * 100).toFixed(1);
  console.log(
    `${mutants.length} mutants, ${killed} killed (${count("looped")} by time), ${percent} %`,
  );
}

function runFrom(first: number): Promise<void> {
  const worker = fork(fileURLToPath(new URL("mutate-worker.ts", import.meta.url)), {
    cwd: fileURLToPath(new URL("../../..", import.meta.url)),
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  let at = first;
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const settle = (verdict: Verdict): void => {
      clearTimeout(timer);
      verdicts[at] = verdict;
      const { file, line, what } = mutants[at]!;
      if (verdict !== "killed") console.log(`${verdict} ${file}:${line} ${what}`);
      at += 1;
    };
    const next = (): void => {
      if (at === mutants.length) return void worker.kill();
      timer = setTimeout(() => {
        settle("looped");
        worker.kill("SIGKILL");
      }, secondsMax * 1000);
      worker.send(mutants[at] satisfies Mutant | undefined as Mutant);
    };
    worker.on("message", (message: "ready" | Verdict) => {
      if (message !== "ready") settle(message);
      next();
    });
    worker.on("exit", () => {
      clearTimeout(timer);
      for (const [file, text] of texts) writeFileSync(new URL(file, source), text);
      if (at > first) resolve();
      else reject(new Error("the worker ended before it judged anything"));
    });
  });
}

await run();
