/**
 * Mutation testing of a package by vitest itself: `node src/mutation/with-vitest.ts <package> [share] [seed] [sources] [places]`.
 * Each mutant is one small change of a source, written into a copy of the workspace; those tests of the package that run the
 * place have to notice it (`touching.ts`). `sources` and `places` are regular expressions: only files that the one matches are
 * mutated, and there only what the other matches as `file:line kind`, so that single mutants can be shown to tests again. One
 * process a mutant: slow, and nothing of one mutant can reach the next. Writes `docs/reports/<package>-mutation.md`. A package that
 * needs a server is given one as `DATABASE_URL`.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { mutantsOf, type Mutant } from "./mutants.ts";
import { keepingSetup, telling, touching, type Entered } from "./touching.ts";

const workspace = fileURLToPath(new URL("../../../../", import.meta.url));
const [name = "approvals", share = "1", seed = "1", only = ".", places = "."] =
  process.argv.slice(2);
const wanted = new RegExp(only);
const wantedPlace = new RegExp(places);

/** Sources whose tests stand outside, or that hold no decisions of their own. */
const leftOut = /^(?:index|contract)\.ts$|^contract\//;
/** Tests that take long, or that test the tests. */
const slow =
  /(?:^|\/)(?:model|once|contract-bites|readme|page-cost|processes|disk|differential|plans|pooler|killed-run|restart|large-graphs|map-large|mistakes|order-within|order-is-kept)\.test\.ts$/;
/** A mutant that is still running then is taken for an endless loop, which a test run would notice. */
const stuckMs = 300_000;

const copy = mkdtempSync(join(tmpdir(), "mutants-"));
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
for (const entry of readdirSync(workspace)) {
  if (entry === "node_modules") symlinkSync(join(workspace, entry), join(copy, entry));
  else if (entry === "packages" || entry.endsWith(".json")) {
    cpSync(join(workspace, entry), join(copy, entry), { recursive: true, verbatimSymlinks: true });
  }
}
const home = join(copy, "packages", name);
const heard = mkdtempSync(join(tmpdir(), "entered-"));
process.on("exit", () => rmSync(heard, { recursive: true, force: true }));
const config = `
  import { BaseSequencer } from "vitest/node";
  const conditions = ["@holdpoint/source", "module", "node", "development|production"];
  const order = process.env.TEST_ORDER?.split("\\n");
  class AsGiven extends BaseSequencer {
    sort(files) {
      const at = ({ moduleId }) => order?.indexOf(moduleId) ?? 0;
      return files.toSorted((a, b) => at(a) - at(b));
    }
  }
  export default {
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      isolate: false, pool: "threads", maxWorkers: 1, bail: 1, testTimeout: 120_000,
      sequence: { sequencer: AsGiven },
      setupFiles: order === undefined ? ["./entered.js"] : [],
      ...(process.env.DATABASE_URL && { provide: { postgresUrl: process.env.DATABASE_URL } }),
    },
  };`;
writeFileSync(join(home, "mutation.config.js"), config);
writeFileSync(join(home, "entered.js"), keepingSetup(heard));
const tests = readdirSync(join(home, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts") && !slow.test(file))
  .map((file) => join(home, "test", file));

const sources = join(home, "src");
const files = readdirSync(sources, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !leftOut.test(file) && wanted.test(file))
  .toSorted();
const texts = new Map(
  files.map((file) => [file, stripTypeScriptTypes(readFileSync(join(sources, file), "utf8"))]),
);
const all = files.flatMap((file) => mutantsOf(file, texts.get(file)!));
const mutants = all.filter(
  ({ file, line, kind }, at) =>
    ((at * 7919 + Number(seed) * 104_729) % 1000) / 1000 < Number(share) &&
    wantedPlace.test(`${file}:${line} ${kind}`),
);

interface Result {
  readonly mutant: Mutant;
  readonly noticed: boolean;
}
const results: Result[] = [];
let lastOutput = "";

for (const [file, text] of texts) writeFileSync(join(sources, file), telling(file, text));
if (!pass(tests)) failOutright("");
const entered = readdirSync(heard).map(
  (file) => JSON.parse(readFileSync(join(heard, file), "utf8")) as Entered,
);
for (const [file, text] of texts) writeFileSync(join(sources, file), text);
for (const [number, mutant] of mutants.entries()) {
  const path = join(sources, mutant.file);
  const text = texts.get(mutant.file)!;
  const shown = touching(mutant, text, entered);
  writeFileSync(path, text.slice(0, mutant.start) + mutant.text + text.slice(mutant.end));
  results.push({ mutant, noticed: shown.length > 0 && !pass(shown, shown) });
  writeFileSync(path, text);
  if (number % 20 === 19) report();
}
// Had a mutant left something behind, the later ones would mean nothing.
if (!pass(tests, tests)) failOutright(" afterwards");
report();

function failOutright(when: string): never {
  throw new Error(`the tests fail on unmutated sources${when}:\n${lastOutput.slice(-5_000)}`);
}

/** Whether tests pass, in this order; without an order, each of them says what it enters. */
function pass(shown: readonly string[], order?: readonly string[]): boolean {
  const vitest = join(copy, "node_modules", "vitest", "vitest.mjs");
  const args = [vitest, "run", "--config", "mutation.config.js", ...shown];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: home,
    env: { ...process.env, ...(order && { TEST_ORDER: order.join("\n") }) },
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    timeout: order === undefined ? 0 : stuckMs,
  });
  if (status !== 0) lastOutput = stderr + stdout.slice(-500);
  return status === 0;
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}

function report(): void {
  const alive = results.filter(({ noticed }) => !noticed);
  const killed = results.length - alive.length;
  const rows = files.flatMap((file) => {
    const own = results.filter(({ mutant }) => mutant.file === file);
    const dead = own.filter(({ noticed }) => noticed).length;
    return own.length === 0
      ? []
      : [`| ${file} | ${own.length} | ${dead} | ${percent(dead, own.length)} |`];
  });
  const places = alive.map(
    ({ mutant }) => `| ${mutant.file}:${mutant.line} | ${mutant.kind.replaceAll("|", "\\|")} |`,
  );
  const text = [
    `# Mutation testing of \`@holdpoint/${name}\``,
    "",
    `\`node apps/bench/src/mutation/with-vitest.ts ${process.argv.slice(2).join(" ")}\` on Node ${process.versions.node}: ${results.length} of ${all.length} mutants.`,
    `**${killed} killed, ${percent(killed, results.length)}.** A mutant is one change: an operator, a condition, a literal, a statement or block left out.`,
    "Strings that only word a message are not mutated; the slowest test files are left out.",
    "",
    "| file | mutants | killed | |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
    "## Alive",
    "",
    "| place | change |",
    "| --- | --- |",
    ...places,
    "",
  ].join("\n");
  writeFileSync(join(workspace, "docs", "reports", `${name}-mutation.md`), text);
  process.stdout.write(`${results.length} of ${mutants.length} mutants, ${alive.length} alive\n`);
}
