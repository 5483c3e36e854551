import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";

/** HMAC-SHA256 under one key: the 32 bytes over the concatenation of the parts. */
export type MacKey = (parts: readonly Uint8Array[]) => Uint8Array;

/**
 * Port for a faster MAC (SEAL-33). The algorithm is fixed, the same bytes come out; a keyring
 * compares a known answer when it is made, and refuses another algorithm with `key-invalid`.
 */
export interface Mac {
  /** Sets a key up once; the bytes may be wiped afterwards. */
  prepare(key: Uint8Array): MacKey;
}

/** The default MAC: `@noble/hashes`, on every runtime. */
export const nobleMac: Mac = Object.freeze({
  prepare(key: Uint8Array): MacKey {
    // The key's two compressions are done once; each MAC starts from a copy of that state.
    const keyed = hmac.create(sha256, key);
    return (parts: readonly Uint8Array[]) => {
      const running = keyed.clone();
      for (let i = 0; i < parts.length; i++) running.update(parts[i]!);
      return running.digest();
    };
  },
});

/** Whether two MACs are equal, in a time that doesn't tell where they differ (SEAL-32). */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}
