import { defineConfig } from "tsup";

import { base } from "../../tsup.base.ts";

export default defineConfig({
  ...base,
  entry: ["src/index.ts", "src/main.ts"],
  splitting: true, // a command's code is loaded when it runs
});
