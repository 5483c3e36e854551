/**
 * `pnpm bench [NAME] [ARGUMENTS]`: runs one bench of `apps/bench` (`flow`, `durable`, `seal`, `workflows`), or all of them in their quick form.
 * Benches print ratios of one run; no test ever waits for a time.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { startPostgres } from "./postgres/server.ts";

const folder = new URL("../apps/bench/src/", import.meta.url);
const names = readdirSync(folder).filter((name) => existsSync(new URL(`${name}/main.ts`, folder)));
/** Benches that are measured on a server too. */
const onServers: ReadonlySet<string> = new Set(["durable", "workflows"]);
const [asked, ...rest] = process.argv.slice(2);

async function run(name: string, args: readonly string[]): Promise<void> {
  const main = fileURLToPath(new URL(`${name}/main.ts`, folder));
  const server = onServers.has(name) ? await startPostgres({ sync: true }) : undefined;
  const more = server === undefined ? [] : ["--postgres", server.url];
  try {
    const child = spawn(process.execPath, [main, ...args, ...more], { stdio: "inherit" });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) process.exitCode = 1;
  } finally {
    await server?.stop();
  }
}

if (asked === undefined) {
  for (const name of names) await run(name, ["--quick"]);
} else if (names.includes(asked)) {
  await run(asked, rest);
} else {
  console.error(`there is no bench '${asked}': ${names.join(", ")}`);
  process.exitCode = 1;
}
