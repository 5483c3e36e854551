import { byteLength, charCodeAt, encodeInto } from "../platform.ts";
import { nobleSha256, sha256, type Sha256 } from "./hash.ts";
import { BLOCK_BYTES, keyedHmac } from "./hmac.ts";

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

/** Up to here a text's bytes are written into a buffer that is kept, three at most for each character. */
const KEPT_CHARS = 4096;
const bytesClass = Uint8Array;
const bufferClass = ArrayBuffer;
let kept: { readonly buffer: ArrayBuffer; readonly message: Uint8Array } | undefined;

/** The bytes of both texts, behind those of a block. No species is asked for: each view is of its buffer. */
function framed(head: string, body: string): Uint8Array {
  const text = head + body;
  if (text.length <= KEPT_CHARS) {
    kept ??= roomFor(3 * KEPT_CHARS);
    return new bytesClass(kept.buffer, 0, BLOCK_BYTES + encodeInto(text, kept.message));
  }
  const { buffer, message } = roomFor(byteLength(text));
  encodeInto(text, message);
  return new bytesClass(buffer);
}

function roomFor(bytes: number): { buffer: ArrayBuffer; message: Uint8Array } {
  const buffer = new bufferClass(BLOCK_BYTES + bytes);
  return { buffer, message: new bytesClass(buffer, BLOCK_BYTES) };
}

function macOver(hash: Sha256): Mac {
  return Object.freeze({
    prepare(key: Uint8Array): MacKey {
      const keyed = keyedHmac(key, hash);
      return (head, body) => hash.base64(keyed(framed(head, body)));
    },
  });
}

/** HMAC by `@noble/hashes` alone, whatever the runtime has of its own. */
export const nobleMac: Mac = macOver(nobleSha256);

/** The MAC of a keyring that is given none: over the runtime's own SHA-256, else `@noble/hashes`. */
export const defaultMac: Mac = macOver(sha256);

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
