/**
 * Runs mutants one after another in this process, and tells its parent of each. Sources and tests
 * are loaded anew for every mutant, so that what a module computes at import is mutated too.
 */
import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";

import type { Mutant } from "./mutants.ts";
import { registry, Skipped, type Collected } from "./shim.ts";

const HOME = new URL("../../../../packages/seal/", import.meta.url).href;
const SHIM = new URL("shim.ts", import.meta.url).href;
const TESTS = [
  "values",
  "decode-refusals",
  "envelope",
  "hash",
  "keyring",
  "models",
  "not-sealable",
  "own",
  "published-vectors",
  "temporal",
  "errors",
  "paths",
  "platform",
  "vectors",
  "bounds",
  "budget",
  "codecs",
  "reach",
  "secrecy",
];
/** Tests that take more processor time than this on the unchanged source are left out; they are there for time and size. */
const SLOW_MS = 1000;

const sources = new Map<string, string>();
let active: Mutant | undefined;

function stripped(url: string): string {
  const known = sources.get(url);
  if (known !== undefined) return known;
  const text = stripTypeScriptTypes(readFileSync(fileURLToPath(url), "utf8"));
  sources.set(url, text);
  return text;
}

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "vitest") return { url: SHIM, shortCircuit: true };
    const found = next(specifier, context);
    const generation = /\?m=(-?\d+)$/.exec(context.parentURL ?? "")?.[1];
    if (
      generation === undefined ||
      !found.url.startsWith(HOME) ||
      found.url.includes("node_modules")
    )
      return found;
    return { ...found, url: `${found.url}?m=${generation}` };
  },
  load(url, context, next) {
    const [file] = url.split("?m=") as [string];
    if (file === url || !file.endsWith(".ts")) return next(url, context);
    let source = stripped(file);
    if (active !== undefined && file === new URL(active.file, HOME).href) {
      source = source.slice(0, active.start) + active.text + source.slice(active.end);
    }
    return { format: "module", source, shortCircuit: true };
  },
});

async function load(name: string, generation: number): Promise<readonly Collected[]> {
  const { tests, before } = registry();
  tests.length = 0;
  before.length = 0;
  await import(`${HOME}test/${name}.test.ts?m=${generation}`);
  return [...tests];
}

interface Kept {
  readonly index: number;
  readonly title: string;
  kills: number;
  readonly ms: number;
}

interface File {
  readonly name: string;
  readonly kept: Kept[];
  kills: number;
}

async function passes(test: Collected): Promise<boolean> {
  try {
    await test.run();
    return true;
  } catch (error) {
    if (error instanceof Skipped) return false;
    return false;
  } finally {
    for (const run of registry().before) run();
  }
}

async function baseline(): Promise<File[]> {
  const files: File[] = [];
  for (const name of TESTS) {
    const kept: Kept[] = [];
    for (const [index, test] of (await load(name, -1)).entries()) {
      const start = process.cpuUsage();
      const good = await passes(test);
      const { user, system } = process.cpuUsage(start);
      const ms = (user + system) / 1000;
      if (good && ms < SLOW_MS) kept.push({ index, title: test.title, kills: 0, ms });
    }
    files.push({ name, kept, kills: 0 });
  }
  return files;
}

async function killer(
  mutant: Mutant,
  generation: number,
  files: File[],
): Promise<string | undefined> {
  active = mutant;
  try {
    // What kills often goes first: most mutants never see the other files.
    files.sort((a, b) => b.kills - a.kills);
    for (const file of files) {
      const by = await killerIn(file, generation);
      if (by === undefined) continue;
      file.kills++;
      return by;
    }
    return undefined;
  } finally {
    active = undefined;
  }
}

async function killerIn({ name, kept }: File, generation: number): Promise<string | undefined> {
  let tests: readonly Collected[];
  try {
    tests = await load(name, generation);
  } catch {
    return "import";
  }
  kept.sort((a, b) => b.kills / (b.ms + 1) - a.kills / (a.ms + 1));
  for (const candidate of kept) {
    const test = tests[candidate.index];
    if (test === undefined) return "tests gone";
    if (!(await passes(test))) {
      candidate.kills++;
      return candidate.title;
    }
  }
  return undefined;
}

process.on("uncaughtException", () => {});
process.on("unhandledRejection", () => {});
const files = await baseline();
const tests = files.reduce((count, file) => count + file.kept.length, 0);
process.send?.({ kind: "ready", tests });
process.on("message", (message: { mutant: Mutant; number: number }) => {
  void killer(message.mutant, message.number, files).then((by) =>
    process.send?.({ kind: "done", number: message.number, by }),
  );
});
