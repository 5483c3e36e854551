import type { Options } from "tsup";

/** One bundle for each entry, ESM only; the declarations come from `tsc` (TypeScript 7 has no compiler API for tsup). */
export const base: Options = {
  format: ["esm"],
  platform: "node",
  target: "es2023",
  clean: true,
  sourcemap: true,
  silent: true,
  dts: false,
  removeNodeProtocol: false, // else "node:sqlite" becomes "sqlite", which does not exist
};
