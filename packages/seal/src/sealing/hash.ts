/**
 * SHA-256, by the platform where it has one for a single call, else by another package.
 *
 * H1 Both give the same bytes. Which of them it is is settled when something is hashed first, by what was taken at import: to load
 *    the platform's takes as long as to import all of this package (SEAL-26).
 * H2 The platform's stands on nothing that a program can replace afterwards. The package's code looks its built-ins up when
 *    it runs, so one that was replaced would give many texts one digest, and a MAC that anybody could name: it hashes nothing then.
 * H3 What was replaced before that shows in the known answer, before the first digest and for each MAC (`keyring.ts`).
 */
// The class itself: what wraps it for other algorithms' options would be a third of a kilobyte in a browser.
import { _SHA256 as Sha256Of } from "@noble/hashes/sha2.js";

import { toBase64 } from "../canonical/base64.ts";
import { SealError } from "../errors.ts";
import { getDescriptor, hostHash, typedArrayPrototype, utf8, type HostHash } from "../platform.ts";

type Members = Readonly<Record<PropertyKey, unknown>>;
const bytes = Uint8Array.prototype as object as Members;
const views = DataView.prototype as object as Members;
const world = globalThis as object as Members;
const math = Math as object as Members;

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
    world["Uint8Array"],
    world["DataView"],
    math["min"],
  ];
}

const GETTERS = ["length", "buffer", "byteLength", "byteOffset"] as const;
const takenFunctions = functions();
const takenGetters = GETTERS.map(getterOf);
const probeBuffer = new ArrayBuffer(16);
const probe = new Uint8Array(probeBuffer, 3, 7);

function getterOf(name: string): unknown {
  const accessor: Members | undefined = getDescriptor(typedArrayPrototype, name) as
    | Members
    | undefined;
  return accessor?.["get"];
}

function partsHold(): boolean {
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

function checkParts(): void {
  let hold = false;
  try {
    hold = partsHold();
  } catch {
    // A getter that somebody put there threw.
  }
  if (hold) return;
  const message = "nothing is hashed: a built-in that the hash stands on was replaced";
  throw new SealError("platform-altered", message);
}

/** SHA-256 of bytes, or of a text's UTF-8 bytes. */
export interface Sha256 {
  /** @throws SealError `platform-altered` */
  readonly bytes: (of: Uint8Array) => Uint8Array;
  /** 43 characters of base64 with the URL alphabet, no padding. @throws SealError `platform-altered` */
  readonly base64: (of: Uint8Array | string) => string;
}

/** By `@noble/hashes`, on every runtime. */
export const nobleSha256: Sha256 = Object.freeze({
  bytes(of: Uint8Array): Uint8Array {
    checkParts();
    return new Sha256Of().update(of).digest();
  },
  base64: (of: Uint8Array | string): string =>
    toBase64(nobleSha256.bytes(typeof of === "string" ? utf8(of) : of)),
});

function hosted(hash: HostHash): Sha256 {
  return Object.freeze({
    bytes: (of: Uint8Array) => hash("sha256", of, "buffer"),
    base64: (of: Uint8Array | string) => hash("sha256", of, "base64url"),
  });
}

let quickest: Sha256 | undefined;

function quickestHere(): Sha256 {
  const hash = hostHash();
  return hash === undefined ? nobleSha256 : hosted(hash);
}

/** The quickest that the runtime has (H1). */
export const sha256: Sha256 = Object.freeze({
  bytes: (of: Uint8Array) => (quickest ??= quickestHere()).bytes(of),
  base64: (of: Uint8Array | string) => (quickest ??= quickestHere()).base64(of),
});
