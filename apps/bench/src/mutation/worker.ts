/**
 * Runs mutants one after another in this process, and tells its parent of each. Sources and tests
 * are loaded anew for every mutant, so that what a module computes at import is mutated too.
 */
import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";

import type { Mutant } from "./mutants.ts";
import { registry, type Collected } from "./shim.ts";
import { blockAround, telling } from "./touching.ts";

const HOME = new URL("../../../../packages/seal/", import.meta.url).href;
const SHIM = new URL("shim.ts", import.meta.url).href;
const TESTS = [
  "values",
  "decode-refusals",
  "envelope",
  "envelope-header",
  "envelope-places",
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

/** The generation of modules that is loaded first, and tells which blocks it enters. */
const UNCHANGED = -1;
/** From here on generations are loaded for whole files. */
const WHOLE = 1_000_000;
/** Told in place of a test that fails on the unchanged source too: this process is of no more use. */
const DOUBTFUL = "doubtful";

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
    if (url.endsWith(`?m=${UNCHANGED}`) && file.startsWith(`${HOME}src/`)) {
      source = telling(file.slice(HOME.length), source);
    } else if (active !== undefined && file === new URL(active.file, HOME).href) {
      source = source.slice(0, active.start) + active.text + source.slice(active.end);
    }
    return { format: "module", source, shortCircuit: true };
  },
});

/** The tests of a file, and what runs after each of them. */
interface Loaded {
  readonly tests: readonly Collected[];
  readonly after: readonly (() => unknown)[];
}

async function load(name: string, generation: number): Promise<Loaded> {
  const { tests, after } = registry();
  tests.length = 0;
  after.length = 0;
  await import(`${HOME}test/${name}.test.ts?m=${generation}`);
  return { tests: [...tests], after: [...after] };
}

/** What the unchanged source says of the blocks that are entered. */
type Entered = Readonly<Record<string, true>>;

interface Kept {
  readonly index: number;
  readonly entered: Entered;
  readonly title: string;
  kills: number;
  readonly ms: number;
}

interface File {
  readonly name: string;
  /** As it was loaded with the unchanged source. */
  readonly unchanged: Loaded;
  /** What is entered while it is loaded. */
  readonly entered: Entered;
  readonly kept: Kept[];
  kills: number;
}

async function passes({ tests, after }: Loaded, index: number): Promise<boolean> {
  try {
    await tests[index]!.run();
    return true;
  } catch {
    return false;
  } finally {
    for (const run of after) run();
  }
}

function listen(): Entered {
  const entered = Object.create(null) as Entered;
  (globalThis as { __entered?: Entered }).__entered = entered;
  return entered;
}

async function baseline(): Promise<File[]> {
  const files: File[] = [];
  for (const name of TESTS) {
    const kept: Kept[] = [];
    const entered = listen();
    const unchanged = await load(name, UNCHANGED);
    for (const [index, { title }] of unchanged.tests.entries()) {
      const own = listen();
      const start = process.cpuUsage();
      const good = await passes(unchanged, index);
      const { user, system } = process.cpuUsage(start);
      const ms = (user + system) / 1000;
      if (good && ms < SLOW_MS) kept.push({ index, title, entered: own, kills: 0, ms });
    }
    files.push({ name, unchanged, entered, kept, kills: 0 });
  }
  return files;
}

async function killer(
  mutant: Mutant,
  generation: number,
  files: File[],
): Promise<string | undefined> {
  const block = blockAround(mutant, stripped(new URL(mutant.file, HOME).href));
  // What kills often goes first: most mutants never see the other files.
  files.sort((a, b) => b.kills - a.kills);
  const shown = files.flatMap((file) => {
    const all = block === undefined || block in file.entered;
    const own = file.kept.filter(({ entered }) => all || block in entered);
    return own.length === 0 ? [] : [{ file, own: own.toSorted(byKillsOf) }];
  });
  // What is made once, by the test that needs it first, is entered by that one alone: then whole files, in their order.
  const whole = shown.filter(({ file, own }) => own.length < file.kept.length);
  for (const [file, tests, loaded] of [
    ...shown.map(({ file, own }) => [file, own, generation] as const),
    ...whole.map(({ file }) => [file, file.kept, WHOLE + generation] as const),
  ]) {
    active = mutant;
    const by = await killerIn(file.name, tests, loaded);
    active = undefined;
    if (by === undefined) continue;
    file.kills++;
    return (await passesUnchanged(file, generation, by)) ? (by.test?.title ?? "import") : DOUBTFUL;
  }
  return undefined;
}

function byKillsOf(a: Kept, b: Kept): number {
  return b.kills / (b.ms + 1) - a.kills / (a.ms + 1);
}

/** What fails: a test, or without one the file as a whole. */
interface Killer {
  readonly test?: Kept;
}

async function killerIn(
  name: string,
  shown: readonly Kept[],
  generation: number,
): Promise<Killer | undefined> {
  let loaded: Loaded;
  try {
    loaded = await load(name, generation);
  } catch {
    return {};
  }
  for (const test of shown) {
    if (test.index >= loaded.tests.length) return {};
    if (!(await passes(loaded, test.index))) {
      test.kills++;
      return { test };
    }
  }
  return undefined;
}

/**
 * Whether what fails with a mutant passes without it: else it may be what an earlier mutant left behind that fails. A test of
 * something's first use can't be run twice: it is loaded anew.
 */
async function passesUnchanged(file: File, generation: number, { test }: Killer): Promise<boolean> {
  if (test !== undefined && (await passes(file.unchanged, test.index))) return true;
  try {
    const again = await load(file.name, -2 - generation);
    return test === undefined || (await passes(again, test.index));
  } catch {
    return false;
  }
}

const files = await baseline();
const tests = files.reduce((count, file) => count + file.kept.length, 0);
// From here on what is thrown late is a mutant's.
process.on("uncaughtException", () => {});
process.on("unhandledRejection", () => {});
const { user, system } = process.cpuUsage();
const whole = files.filter(({ kept, unchanged }) => kept.length === unchanged.tests.length);
process.send?.({
  kind: "ready",
  tests,
  whole: whole.map(({ name }) => name),
  cpuMs: (user + system) / 1000,
});
// Without its parent it has nothing to do.
process.on("disconnect", () => process.exit());
process.on("message", (message: { mutant: Mutant; number: number }) => {
  void killer(message.mutant, message.number, files).then((by) =>
    process.send?.({ kind: "done", number: message.number, by }),
  );
});
