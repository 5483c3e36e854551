/** `pnpm coverage`: the files in which no branch may be left without a test (P15), and that each of them has all of its own. */
import { defineConfig } from "vitest/config";

import config from "./vitest.config.ts";

/** Seals are opened, runs are resumed and answers are spent here: by name, so that a new file is a decision. */
const resumed = {
  checkpoint: ["chain", "form", "open", "repeats", "seal", "snapshot"],
  run: [
    "already",
    "answer",
    "answers",
    "ask",
    "ask-numbers",
    "call-end",
    "call-site",
    "calls",
    "cancel",
    "doubt",
    "doubt-answer",
    "drive",
    "gate",
    "interrupting",
    "pending",
    "perform",
    "plan",
    "plan-answer",
    "plan-approval",
    "plan-verdict",
    "prepare",
    "recover",
    "reopen",
    "rest",
    "resume",
    "resume-plan",
    "retry-stand",
    "reveal",
    "spend",
    "spent",
  ],
};

/** Every file of a folder but these. Patterns are matched below each package; no other has these folders. */
const others = Object.entries(resumed).map(
  ([folder, files]) => `src/${folder}/!(${files.join("|")}).ts`,
);

export default defineConfig({
  ...config,
  test: {
    ...config.test,
    coverage: {
      provider: "v8",
      enabled: true,
      include: ["src/**/*.ts"],
      // The contract's cases are run by its own tests, and say what a store of anybody's has to do.
      exclude: ["src/contract/**", "src/contract.ts", "src/draw/**", "src/graph/**", ...others],
      reporter: ["json-summary", "json", "text-summary"],
      thresholds: { branches: 100, perFile: true },
    },
  },
});
