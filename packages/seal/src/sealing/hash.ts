/**
 * SHA-256 and HMAC, of another package: its code looks its built-ins up when it runs, so one that was
 * replaced after import would give many texts one digest, and a MAC that anybody could name. Nothing is hashed then.
 */
import { hmac as hmacOf } from "@noble/hashes/hmac.js";
import { sha256 as sha256Of } from "@noble/hashes/sha2.js";

import { SealError } from "../errors.ts";
import { arrayPrototype, getDescriptor, getPrototypeOf, typedArrayPrototype } from "../platform.ts";

/** What the hash stands on, by object and name. */
const PARTS: readonly (readonly [object, PropertyKey])[] = [
  ...["set", "fill", "slice", "subarray", "length", "buffer", "byteLength", "byteOffset"].map(
    (name) => [typedArrayPrototype, name] as const,
  ),
  ...["getUint32", "setUint32", "setBigUint64"].map((name) => [DataView.prototype, name] as const),
  ...["Uint8Array", "Uint32Array", "DataView", "BigInt"].map((name) => [globalThis, name] as const),
  [Math, "min"],
  [Object, "create"],
  [Object, "getPrototypeOf"],
];
/** What a copy of a keyed state stands on beside them. */
const COPY_PARTS: typeof PARTS = [
  [arrayPrototype, Symbol.iterator],
  [getPrototypeOf([].values())!, "next"],
];
const taken = PARTS.map(([holder, name]) => partOf(holder, name));
const takenForCopies = COPY_PARTS.map(([holder, name]) => partOf(holder, name));

function partOf(holder: object, name: PropertyKey): unknown {
  const part = getDescriptor(holder, name);
  const kind: "get" | "value" = part?.get === undefined ? "value" : "get";
  return part?.[kind];
}

function checkParts(parts = PARTS, before: readonly unknown[] = taken): void {
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    if (partOf(part[0], part[1]) !== before[i]) {
      const message = "nothing is hashed: a built-in that the hash stands on was replaced";
      throw new SealError("platform-altered", message);
    }
  }
}

/** @throws SealError `platform-altered` */
export function sha256(bytes: Uint8Array): Uint8Array {
  checkParts();
  return sha256Of(bytes);
}

/** @throws SealError `platform-altered` */
export function hmac(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  checkParts();
  return hmacOf(sha256Of, key, bytes);
}

/** HMAC of two texts' bytes under a key that is set up once. Its use @throws SealError `platform-altered` */
export function keyedHmac(key: Uint8Array): (head: Uint8Array, body: Uint8Array) => Uint8Array {
  checkParts();
  // The key's two compressions are done once; each MAC starts from a copy of that state.
  const keyed = hmacOf.create(sha256Of, key);
  return (head, body) => {
    checkParts();
    checkParts(COPY_PARTS, takenForCopies);
    return keyed.clone().update(head).update(body).digest();
  };
}
