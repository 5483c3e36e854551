/**
 * `pnpm bench [NAME] [ARGUMENTS]`: runs one bench of `apps/bench` (`flow`, `seal`), or all of them in their quick form.
 * Benches print ratios of one run; no test ever waits for a time.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = new URL("../apps/bench/src/", import.meta.url);
const names = readdirSync(folder).filter((name) => existsSync(new URL(`${name}/main.ts`, folder)));
const [asked, ...rest] = process.argv.slice(2);

function run(name: string, args: readonly string[]): void {
  const main = fileURLToPath(new URL(`${name}/main.ts`, folder));
  execFileSync(process.execPath, [main, ...args], { stdio: "inherit" });
}

if (asked === undefined) {
  for (const name of names) run(name, ["--quick"]);
} else if (names.includes(asked)) {
  run(asked, rest);
} else {
  console.error(`there is no bench '${asked}': ${names.join(", ")}`);
  process.exitCode = 1;
}
