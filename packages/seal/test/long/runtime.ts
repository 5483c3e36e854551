/** Runs the core in the runtime that starts this file: `deno run -A …`, `bun …` or `node …`. */
import { readFileSync } from "node:fs";

import { runCore } from "../browser-entry.ts";
import type { CoreVectors } from "../core-cases.ts";
import { evaluate } from "../vectors.ts";

function file(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), "utf8"));
}
const vectors = {
  values: file("values"),
  seals: file("seals"),
  refused: file("refused"),
} as CoreVectors;
process.stdout.write(`${JSON.stringify(runCore(vectors, evaluate))}\n`);
