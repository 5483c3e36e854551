import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { createVitest } from "vitest/node";

import type { Mutant } from "./mutants.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const source = new URL("../src/", import.meta.url);

const vitest = await createVitest("test", {
  root,
  config: `${root}/vitest.config.ts`,
  project: ["tools"],
  watch: false,
  bail: 1,
  reporters: [{}],
  testTimeout: 30_000,
});

// Generated cases are left out: on a busy machine their time says nothing, and the verdict has to
// come from a table or a case.
const tests = (await vitest.globTestSpecifications()).filter(
  ({ moduleId }) => !/readme|properties/.test(moduleId),
);

async function fails(): Promise<boolean> {
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(tests, false);
  return unhandledErrors.length > 0 || testModules.some((module) => !module.ok());
}

async function judge({ file, start, end, text }: Mutant): Promise<"killed" | "survived"> {
  const url = new URL(file, source);
  const original = readFileSync(url, "utf8");
  try {
    writeFileSync(url, original.slice(0, start) + text + original.slice(end));
    vitest.invalidateFile(fileURLToPath(url));
    return (await fails()) ? "killed" : "survived";
  } finally {
    writeFileSync(url, original);
    vitest.invalidateFile(fileURLToPath(url));
  }
}

if (await fails()) throw new Error("the tests fail without any mutant");
process.on("message", (mutant: Mutant) => {
  void judge(mutant).then((verdict) => process.send?.(verdict));
});
process.send?.("ready");
