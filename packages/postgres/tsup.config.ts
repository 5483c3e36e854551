import { defineConfig } from "tsup";

import { base } from "../../tsup.base.ts";

export default defineConfig({
  ...base,
  entry: ["src/index.ts", "src/approvals.ts", "src/log.ts", "src/runs.ts"],
  splitting: true, // one map of homes, whichever entries a program imports
});
