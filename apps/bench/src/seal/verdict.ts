import { isDeepStrictEqual } from "node:util";

import type { Codec } from "./peers.ts";

/** What a codec does with a value: gives it back, changes it without a word, or refuses it. */
export function verdict(codec: Codec, value: unknown): "kept" | "changed" | "refused" {
  let back: unknown;
  try {
    back = codec.read(codec.write(value) as never);
  } catch {
    return "refused";
  }
  return isDeepStrictEqual(back, value) ? "kept" : "changed";
}
