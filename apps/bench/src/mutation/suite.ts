/**
 * The tests of one package by vitest itself, in a copy of the workspace whose sources can be written to: one process a run, so that
 * nothing of one mutant can reach the next. A package that needs a server is given one as `DATABASE_URL`.
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
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Mutant } from "./mutants.ts";
import { keepingSetup, telling, touching, type Entered } from "./touching.ts";

const workspace = fileURLToPath(new URL("../../../../", import.meta.url));
/** A mutant that is still running then is taken for an endless loop, which a test run would notice. */
const STUCK_MS = 300_000;

const CONFIG = `
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
      isolate: process.env.TEST_ISOLATE !== undefined, pool: "threads", maxWorkers: 1, bail: 1, testTimeout: 120_000,
      sequence: { sequencer: AsGiven },
      setupFiles: order === undefined ? ["./entered.js"] : [],
      ...(process.env.DATABASE_URL && { provide: { postgresUrl: process.env.DATABASE_URL } }),
    },
  };`;

export class Suite {
  readonly #copy = mkdtempSync(join(tmpdir(), "mutants-"));
  readonly #heard = mkdtempSync(join(tmpdir(), "entered-"));
  readonly #home: string;
  readonly #isolate: boolean;
  readonly #tests: readonly string[];
  /** Unmutated sources by file. */
  readonly #texts: ReadonlyMap<string, string>;
  #entered: readonly Entered[] = [];
  #lastOutput = "";

  /**
   * `texts` are sources by their place in the package, types blanked out; `leftOut` are test files. `isolate`: they patch what others
   * stand on, and each is given a world of its own.
   */
  constructor(
    name: string,
    texts: ReadonlyMap<string, string>,
    { leftOut, isolate = false }: { readonly leftOut: RegExp; readonly isolate?: boolean },
  ) {
    this.#isolate = isolate;
    process.on("exit", () => {
      for (const folder of [this.#copy, this.#heard])
        rmSync(folder, { recursive: true, force: true });
    });
    for (const entry of readdirSync(workspace)) {
      const [from, to] = [join(workspace, entry), join(this.#copy, entry)];
      if (entry === "node_modules") symlinkSync(from, to);
      else if (entry === "packages" || entry.endsWith(".json")) {
        cpSync(from, to, { recursive: true, verbatimSymlinks: true });
      }
    }
    this.#home = join(this.#copy, "packages", name);
    this.#texts = texts;
    writeFileSync(join(this.#home, "mutation.config.js"), CONFIG);
    writeFileSync(join(this.#home, "entered.js"), keepingSetup(this.#heard));
    this.#tests = readdirSync(join(this.#home, "test"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts") && !leftOut.test(file))
      .map((file) => join(this.#home, "test", file));
  }

  /** Has each test file say which code it enters. @throws where the tests fail on unmutated sources */
  listen(): void {
    for (const [file, text] of this.#texts) this.#write(file, telling(file, text));
    if (!this.#pass(this.#tests)) this.#failOutright("");
    this.#entered = readdirSync(this.#heard).map(
      (file) => JSON.parse(readFileSync(join(this.#heard, file), "utf8")) as Entered,
    );
    for (const [file, text] of this.#texts) this.#write(file, text);
  }

  /** Whether those tests that run the place of a mutant notice it. */
  notices(mutant: Mutant): boolean {
    const text = this.#texts.get(mutant.file)!;
    const shown = touching(mutant, text, this.#entered);
    if (shown.length === 0) return false;
    this.#write(mutant.file, text.slice(0, mutant.start) + mutant.text + text.slice(mutant.end));
    const passes = this.#pass(shown, shown);
    this.#write(mutant.file, text);
    return !passes;
  }

  /** As {@link notices}, and again after the same tests passed without the mutant: a test of a time may fail by itself. */
  noticesAgain(mutant: Mutant): boolean {
    if (!this.notices(mutant)) return false;
    const shown = touching(mutant, this.#texts.get(mutant.file)!, this.#entered);
    return this.#pass(shown, shown) && this.notices(mutant);
  }

  /** Had a mutant left something behind, the later ones would mean nothing. @throws where the tests fail now */
  checkUnmutated(): void {
    if (!this.#pass(this.#tests, this.#tests)) this.#failOutright(" afterwards");
  }

  #write(file: string, text: string): void {
    writeFileSync(join(this.#home, file), text);
  }

  /** Whether tests pass, in this order; without an order, each of them says what it enters. */
  #pass(shown: readonly string[], order?: readonly string[]): boolean {
    const vitest = join(this.#copy, "node_modules", "vitest", "vitest.mjs");
    const args = [vitest, "run", "--config", "mutation.config.js", ...shown];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: this.#home,
      env: {
        ...process.env,
        ...(order && { TEST_ORDER: order.join("\n") }),
        ...(this.#isolate && { TEST_ISOLATE: "1" }),
      },
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
      maxBuffer: 2 ** 28,
      timeout: order === undefined ? 0 : STUCK_MS,
    });
    if (status !== 0) this.#lastOutput = stderr + stdout.slice(-500);
    return status === 0;
  }

  #failOutright(when: string): never {
    const output = this.#lastOutput.slice(-5_000);
    throw new Error(`the tests fail on unmutated sources${when}:\n${output}`);
  }
}
