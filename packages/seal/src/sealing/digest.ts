import { checkDigest } from "../guard.ts";
import { sha256 } from "./hash.ts";

let checked = false;

/**
 * SHA-256 of a text's UTF-8 bytes: 43 characters of base64 with the URL alphabet, no padding.
 *
 * @throws SealError `platform-altered`
 */
export function digestText(text: string): string {
  if (!checked) {
    checkDigest(sha256.base64);
    checked = true;
  }
  return sha256.base64(text);
}
