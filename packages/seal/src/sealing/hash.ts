/**
 * SHA-256 and HMAC, of another package: its code looks its built-ins up when it runs, so one that was
 * replaced after import would give many texts one digest, and a MAC that anybody could name. Nothing is hashed then.
 */
import { hmac as hmacOf } from "@noble/hashes/hmac.js";
import { sha256 as sha256Of } from "@noble/hashes/sha2.js";

import { SealError } from "../errors.ts";
import { arrayPrototype, getDescriptor, getPrototypeOf, typedArrayPrototype } from "../platform.ts";

type Members = Readonly<Record<PropertyKey, unknown>>;
const bytes = Uint8Array.prototype as object as Members;
const views = DataView.prototype as object as Members;
const lists = arrayPrototype as object as Members;
const iterators = getPrototypeOf([].values()) as Members;
const world = globalThis as object as Members;
const math = Math as object as Members;
const objects = Object as object as Members;

/**
 * Functions that the hash stands on, found as the hash finds them, so that one put in front of another is seen too. Each is
 * read by its name: a descriptor of each would cost what hashing a short text does.
 */
function functions(): readonly unknown[] {
  return [
    bytes["set"],
    bytes["fill"],
    bytes["slice"],
    bytes["subarray"],
    views["getUint32"],
    views["setUint32"],
    views["setBigUint64"],
    world["Uint8Array"],
    world["Uint32Array"],
    world["DataView"],
    world["BigInt"],
    math["min"],
    objects["create"],
    objects["getPrototypeOf"],
  ];
}

const GETTERS = ["length", "buffer", "byteLength", "byteOffset"] as const;
const takenFunctions = functions();
const takenGetters = GETTERS.map(getterOf);
/** What a copy of a keyed state stands on beside them. */
const takenIterator = lists[Symbol.iterator];
const takenNext = iterators["next"];
const probeBuffer = new ArrayBuffer(16);
const probe = new Uint8Array(probeBuffer, 3, 7);

function getterOf(name: string): unknown {
  const accessor: Members | undefined = getDescriptor(typedArrayPrototype, name) as
    | Members
    | undefined;
  return accessor?.["get"];
}

function partsHold(copies: boolean): boolean {
  if (copies && (lists[Symbol.iterator] !== takenIterator || iterators["next"] !== takenNext)) {
    return false;
  }
  for (let i = 0; i < GETTERS.length; i++) {
    if (getterOf(GETTERS[i]!) !== takenGetters[i]) return false;
  }
  // Those that stand in front of the getters.
  if (probe.length !== 7 || probe.byteLength !== 7) return false;
  if (probe.byteOffset !== 3 || probe.buffer !== probeBuffer) return false;
  const found = functions();
  for (let i = 0; i < takenFunctions.length; i++) {
    if (found[i] !== takenFunctions[i]) return false;
  }
  return true;
}

function checkParts(copies = false): void {
  let hold = false;
  try {
    hold = partsHold(copies);
  } catch {
    // A getter that somebody put there threw.
  }
  if (hold) return;
  const message = "nothing is hashed: a built-in that the hash stands on was replaced";
  throw new SealError("platform-altered", message);
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
    checkParts(true);
    return keyed.clone().update(head).update(body).digest();
  };
}
