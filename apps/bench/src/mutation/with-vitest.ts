/**
 * Mutation testing of a package by vitest itself: `node src/mutation/with-vitest.ts <package> [share] [seed] [sources] [places]`.
 * Each mutant is one small change of a source, written into a copy of the workspace; those tests of the package that run the
 * place have to notice it (`touching.ts`). `sources` and `places` are regular expressions: only files that the one matches are
 * mutated, and there only what the other matches as `file:line kind`, so that single mutants can be shown to tests again. One
 * process a mutant (`suite.ts`). Writes `docs/reports/<package>-mutation.md`.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

import { mutantsOf, type Mutant } from "./mutants.ts";
import { Suite } from "./suite.ts";

const workspace = new URL("../../../../", import.meta.url);
const [name = "approvals", share = "1", seed = "1", only = ".", places = "."] =
  process.argv.slice(2);
const wanted = new RegExp(only);
const wantedPlace = new RegExp(places);

/** Sources whose tests stand outside, or that hold no decisions of their own. */
const leftOut = /^(?:index|contract)\.ts$|^contract\//;
/** Tests that take long, or that test the tests. */
const slow =
  /(?:^|\/)(?:model|once|contract-bites|readme|page-cost|processes|disk|differential|plans|pooler|killed-run|restart|large-graphs|map-large|mistakes|order-within|order-is-kept)\.test\.ts$/;

const sources = new URL(`packages/${name}/src/`, workspace);
const files = readdirSync(sources, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !leftOut.test(file) && wanted.test(file))
  .toSorted();
const texts = new Map(
  files.map((file) => [
    `src/${file}`,
    stripTypeScriptTypes(readFileSync(new URL(file, sources), "utf8")),
  ]),
);
const all = [...texts].flatMap(([file, text]) => mutantsOf(file, text));
const mutants = all.filter(
  ({ file, line, kind }, at) =>
    ((at * 7919 + Number(seed) * 104_729) % 1000) / 1000 < Number(share) &&
    wantedPlace.test(`${file.slice(4)}:${line} ${kind}`),
);

interface Result {
  readonly mutant: Mutant;
  readonly noticed: boolean;
}
const results: Result[] = [];

const suite = new Suite(name, texts, { leftOut: slow });
suite.listen();
for (const [number, mutant] of mutants.entries()) {
  results.push({ mutant, noticed: suite.notices(mutant) });
  if (number % 20 === 19) report();
}
suite.checkUnmutated();
report();

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}

function report(): void {
  const alive = results.filter(({ noticed }) => !noticed);
  const killed = results.length - alive.length;
  const rows = files.flatMap((file) => {
    const own = results.filter(({ mutant }) => mutant.file === `src/${file}`);
    const dead = own.filter(({ noticed }) => noticed).length;
    return own.length === 0
      ? []
      : [`| ${file} | ${own.length} | ${dead} | ${percent(dead, own.length)} |`];
  });
  const places = alive.map(
    ({ mutant }) =>
      `| ${mutant.file.slice(4)}:${mutant.line} | ${mutant.kind.replaceAll("|", "\\|")} |`,
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
  writeFileSync(new URL(`docs/reports/${name}-mutation.md`, workspace), text);
  process.stdout.write(`${results.length} of ${mutants.length} mutants, ${alive.length} alive\n`);
}
