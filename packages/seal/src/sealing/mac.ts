import { toBase64 } from "../canonical/base64.ts";
import { charCodeAt, utf8 } from "../platform.ts";
import { keyedHmac } from "./hash.ts";

/**
 * HMAC-SHA256 under one key, over the UTF-8 bytes of `head` and then of `body`: all 32 bytes, as
 * 43 characters of base64 with the URL alphabet and no padding. Both are well-formed texts.
 */
export type MacKey = (head: string, body: string) => string;

/**
 * Port for a faster MAC (SEAL-33). The algorithm is fixed, the same text comes out; a keyring
 * compares a known answer when it is made, and refuses another algorithm with `key-invalid`.
 */
export interface Mac {
  /** Sets a key up once; the bytes may be wiped afterwards. */
  readonly prepare: (key: Uint8Array) => MacKey;
}

/** The default MAC: `@noble/hashes`, on every runtime. */
export const nobleMac: Mac = Object.freeze({
  prepare(key: Uint8Array): MacKey {
    const keyed = keyedHmac(key);
    return (head, body) => toBase64(keyed(utf8(head), utf8(body)));
  },
});

const MAC_CHARS = 43;

/**
 * Whether a text is the MAC, in a time that doesn't tell where they differ (SEAL-32). The texts are
 * compared, not the bytes they stand for: base64 has other spellings of the same bytes.
 */
export function equalMacs(given: string, expected: string): boolean {
  if (given.length !== MAC_CHARS || expected.length !== MAC_CHARS) return false;
  let difference = 0;
  for (let i = 0; i < MAC_CHARS; i++) {
    difference |= charCodeAt(given, i) ^ charCodeAt(expected, i);
  }
  return difference === 0;
}
