import { toBase64 } from "../canonical/base64.ts";
import { utf8 } from "../platform.ts";
import { sha256 } from "./hash.ts";

/** SHA-256 of a text's UTF-8 bytes: 43 characters of base64 with the URL alphabet, no padding. */
export function digestText(text: string): string {
  return toBase64(sha256(utf8(text)));
}
