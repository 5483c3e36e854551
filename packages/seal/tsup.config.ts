import { defineConfig } from "tsup";

import { base } from "../../tsup.base.ts";

export default defineConfig({
  ...base,
  entry: [
    "src/index.ts",
    "src/node.ts",
    "src/zod.ts",
    "src/codecs/url.ts",
    "src/codecs/decimal.ts",
  ],
});
