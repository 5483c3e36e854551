import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

// Tests read source through this condition, so nothing has to be built to run one.
const conditions = ["@holdpoint/source", "module", "node", "development|production"];
const postgres = fileURLToPath(new URL("scripts/postgres/global-setup.ts", import.meta.url));
const onPostgres = new Set(["postgres", "proof"]);
const setup = fileURLToPath(new URL("scripts/fail-on-console.ts", import.meta.url));

function project(folder: string, name: string) {
  return {
    extends: true as const,
    test: {
      name,
      root: `${folder}/${name}`,
      include: ["test/**/*.test.ts"],
      setupFiles: [setup],
      ...(onPostgres.has(name) ? { globalSetup: [postgres] } : {}),
      benchmark: { include: ["bench/**/*.bench.ts"] },
    },
  };
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    reporters: ["default", "./scripts/plain-reporter.ts"],
    maxWorkers: "100%", // the default leaves a core idle, which is half of a small machine
    // Bounds for what hangs, not measures of speed: a busy machine may be ten times slower.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    projects: ["packages", "apps"].flatMap((folder) =>
      readdirSync(folder).map((name) => project(folder, name)),
    ),
    coverage: {
      provider: "v8",
      include: ["**/src/**/*.ts"],
      reporter: ["text-summary", "json-summary"],
    },
  },
});
