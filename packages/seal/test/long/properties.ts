/**
 * The properties of `properties.ts` in their long form: `node test/long/properties.ts [runs] [seed]`, a
 * million cases each unless said otherwise. Writes `docs/reports/seal-properties.md`.
 */
import { writeFileSync } from "node:fs";

import { PROPERTIES } from "../properties.ts";

const REPORT = new URL("../../../../docs/reports/seal-properties.md", import.meta.url);
const runs = Number(process.argv[2] ?? "1000000");
const seed = Number(process.argv[3] ?? "20261129");
/** Cases of one round: the generator keeps what it has made until a round ends. */
const ROUND = 10_000;

const rows: string[] = [];
for (const { title, run } of PROPERTIES) {
  const start = process.cpuUsage();
  for (let done = 0; done < runs; done += ROUND) run(Math.min(ROUND, runs - done), seed + done);
  const { user, system } = process.cpuUsage(start);
  const seconds = Math.round((user + system) / 1e6);
  rows.push(`| ${title} | ${runs.toLocaleString("en")} | 0 | ${seconds} s |`);
  process.stdout.write(`${title}: ${runs} cases, ${seconds} s\n`);
}
const lines = [
  "# Properties of `@holdpoint/seal`, long form",
  "",
  `\`node packages/seal/test/long/properties.ts ${runs} ${seed}\` on Node ${process.versions.node}. A failure would have ended the run.`,
  "",
  "| property | cases | failures | processor time |",
  "| --- | --- | --- | --- |",
  ...rows,
  "",
];
writeFileSync(REPORT, lines.join("\n"));
