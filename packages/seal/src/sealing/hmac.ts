/**
 * HMAC-SHA256 (RFC 2104): the hash of an outer block and of the hash of an inner block and the message. Over one-shot hashes
 * that is quicker than an object that is fed, and what hashes a text and what signs it stand on the same function.
 */
import { lengthOf, setBytes } from "../platform.ts";
import type { Sha256 } from "./hash.ts";

/** Bytes of a block of SHA-256, and so of both pads. */
export const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
const INNER = 0x36;
const OUTER = 0x5c;
const bytesClass = Uint8Array;

/** The block that HMAC makes of a key: what two keys have in common when they are one key to it. */
export function hmacBlock(key: Uint8Array, sha256: Sha256): Uint8Array {
  const block = new bytesClass(BLOCK_BYTES);
  setBytes(block, lengthOf(key) > BLOCK_BYTES ? sha256.bytes(key) : key, 0);
  return block;
}

/**
 * Sets a key up once. The function that comes back is given a message behind the bytes of a block, into which it writes, and
 * gives what is to be hashed last; it is the same array each time.
 */
export function keyedHmac(key: Uint8Array, sha256: Sha256): (framed: Uint8Array) => Uint8Array {
  const inner = hmacBlock(key, sha256);
  const outer = new bytesClass(BLOCK_BYTES + HASH_BYTES);
  for (let i = 0; i < BLOCK_BYTES; i++) {
    outer[i] = inner[i]! ^ OUTER;
    inner[i]! ^= INNER;
  }
  return (framed) => {
    setBytes(framed, inner, 0);
    setBytes(outer, sha256.bytes(framed), BLOCK_BYTES);
    return outer;
  };
}

/** HMAC of bytes. */
export function hmac(key: Uint8Array, message: Uint8Array, sha256: Sha256): Uint8Array {
  const framed = new bytesClass(BLOCK_BYTES + lengthOf(message));
  setBytes(framed, message, BLOCK_BYTES);
  return sha256.bytes(keyedHmac(key, sha256)(framed));
}
