/** Runs the core in the runtime that starts this file: `deno run -A …`, `bun …` or `node …`. */
import { readFileSync } from "node:fs";

import "../browser-entry.ts";
import type { CoreVectors } from "../core-cases.ts";

function file(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), "utf8"));
}
const vectors = {
  values: file("values"),
  seals: file("seals"),
  refused: file("refused"),
} as CoreVectors;
const { holdpointCore } = globalThis as {
  holdpointCore?: (vectors: CoreVectors) => { passed: number; failed: string[] };
};
process.stdout.write(`${JSON.stringify(holdpointCore?.(vectors))}\n`);
