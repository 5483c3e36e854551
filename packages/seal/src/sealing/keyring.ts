/**
 * Keys and their rotation (SEAL-30, SEAL-31).
 *
 * K1 Raw keys stay in private fields and are copied on the way in; nothing of them is printed,
 *    serialised or thrown.
 * K2 No key signs by itself: each purpose has a key derived from it, so HMAC's twin keys (padded
 *    with zeros, or hashed past the block) can't stand for one another.
 * K3 A seal names its key. A named key that is compromised refuses at once; one that is not there
 *    is tampering with a name.
 */
import { toBase64 } from "../canonical/base64.ts";
import { SealError, SealTamperedError } from "../errors.ts";
import { DERIVED_KEYS_MAX, KEY_BYTES_MIN } from "../limits.ts";
import { mapGet, mapSet, pattern, setHas, testPattern, utf8 } from "../platform.ts";
import type { Cipher, CipherKey } from "./cipher.ts";
import { sha256 } from "./hash.ts";
import { hmac, hmacBlock } from "./hmac.ts";
import { defaultMac, equalMacs, nobleMac, type Mac, type MacKey } from "./mac.ts";
import type { Purpose } from "./purpose.ts";

export interface NamedKey {
  /** 1 to 64 of `A-Z a-z 0-9 . _ -`. Stands in every seal; never give it again to another key. */
  readonly id: string;
  /** 16 bytes or more, from a random source. Copied. */
  readonly key: Uint8Array;
}

export interface KeyringOptions {
  /** Seals, and opens. */
  readonly current: NamedKey;
  /** Open what they sealed; seal nothing any more. */
  readonly retired?: readonly NamedKey[];
  /** Ids whose seals are refused at once with `key-compromised`. */
  readonly compromised?: readonly string[];
  /** Default: over the runtime's own SHA-256 (Node, Deno, Bun), else `@noble/hashes`. */
  readonly mac?: Mac;
  /** With one, bodies are enciphered. */
  readonly cipher?: Cipher | undefined;
}

interface HeldKey {
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly macs: Map<Purpose, MacKey>;
  readonly ciphers: Map<Purpose, CipherKey>;
}

const KEY_ID = pattern(/^[A-Za-z0-9._-]{1,64}$/);
const SALT = utf8("holdpoint-seal");
const DERIVED_BYTES = 32;

export class Keyring {
  #ring: Ring;
  /** True for a random key of this process: what it seals can't be opened after a restart. */
  readonly ephemeral: boolean;

  constructor(options: KeyringOptions, ephemeral = false) {
    this.#ring = resolve(options);
    this.ephemeral = ephemeral;
  }

  get currentId(): string {
    return this.#ring.current.id;
  }

  /** Ids of the keys held, the current one first. */
  get ids(): readonly string[] {
    return [...this.#ring.keys.keys()];
  }

  get compromisedIds(): readonly string[] {
    return [...this.#ring.compromised];
  }

  /** Whether bodies are enciphered. */
  get secret(): boolean {
    return this.#ring.cipher !== undefined;
  }

  /** Makes `next` current and retires the key that was. @throws SealError `key-invalid` */
  rotate(next: NamedKey): void {
    const { keys, compromised, mac, cipher } = this.#ring;
    const retired = [...keys.values()].map(({ id, bytes }) => ({ id, key: bytes }));
    this.replace({ current: next, retired, compromised: [...compromised], mac, cipher });
  }

  /**
   * Takes over a whole new set of keys at once, as after a reload of configuration: a key that is
   * not in it opens nothing from now on. Nothing changes if it throws.
   *
   * @throws SealError `key-invalid`
   */
  replace(options: KeyringOptions): void {
    this.#ring = resolve(options);
  }

  /** The MAC of a purpose under the current key. */
  signer(purpose: Purpose): MacKey {
    return this.#macKey(this.#ring.current, purpose);
  }

  /** The MAC of a purpose under a named key. @throws SealError `key-compromised`, `checkpoint-tampered` */
  verifier(id: string, purpose: Purpose): MacKey {
    return this.#macKey(this.#named(id), purpose);
  }

  /** The cipher of a purpose under a named key, or undefined where the ring has none. */
  cipher(id: string, purpose: Purpose): CipherKey | undefined {
    const { cipher } = this.#ring;
    if (cipher === undefined) return undefined;
    const held = this.#named(id);
    return cached(held.ciphers, purpose, () =>
      cipher.prepare(derive(held.bytes, "cipher", purpose)),
    );
  }

  #named(id: string): HeldKey {
    if (setHas(this.#ring.compromised, id)) {
      throw new SealError(
        "key-compromised",
        `key ${id} is listed as compromised; what it sealed is not opened`,
        {
          keyId: id,
        },
      );
    }
    const held = mapGet(this.#ring.keys, id);
    if (held !== undefined) return held;
    // SEAL-31: an id outside the alphabet is somebody's text, and is not repeated.
    throw testPattern(KEY_ID, id) ? new SealTamperedError(id) : new SealTamperedError();
  }

  #macKey(held: HeldKey, purpose: Purpose): MacKey {
    return cached(held.macs, purpose, () =>
      this.#ring.mac.prepare(derive(held.bytes, "mac", purpose)),
    );
  }

  /** Ids alone: the one form in which a keyring may appear in a log. */
  toJSON(): { currentId: string; ids: readonly string[] } {
    return { currentId: this.currentId, ids: this.ids };
  }
}

function cached<Value>(cache: Map<Purpose, Value>, purpose: Purpose, make: () => Value): Value {
  const known = mapGet(cache, purpose);
  if (known !== undefined) return known;
  if (cache.size >= DERIVED_KEYS_MAX) cache.clear();
  const made = make();
  mapSet(cache, purpose, made);
  return made;
}

/** HKDF-SHA256 (RFC 5869). What it derives is one hash long, so its expansion is a single block. */
function derive(key: Uint8Array, use: "mac" | "cipher", purpose: Purpose): Uint8Array {
  return hmac(hmac(SALT, key, sha256), utf8(`v1 ${use} ${purpose}\u0001`), sha256);
}

interface Ring {
  readonly current: HeldKey;
  readonly keys: ReadonlyMap<string, HeldKey>;
  readonly compromised: ReadonlySet<string>;
  readonly mac: Mac;
  readonly cipher: Cipher | undefined;
}

function resolve(options: KeyringOptions): Ring {
  const mac = options.mac ?? defaultMac;
  // Keys are derived by the hash of the default, whichever MAC is given.
  checkMac(defaultMac);
  checkMac(mac);
  const keys = new Map<string, HeldKey>();
  const blocks: { id: string; block: Uint8Array }[] = [];
  for (const named of [options.current, ...(options.retired ?? [])]) {
    const held = hold(named);
    if (keys.has(held.id)) throw keyInvalid(`key id ${held.id} is given twice`);
    const block = hmacBlock(held.bytes, sha256);
    const twin = blocks.find((other) => sameBytes(other.block, block));
    // SEAL-30: to HMAC they are one key, so retiring one would not retire it.
    if (twin !== undefined) throw keyInvalid(`keys ${twin.id} and ${held.id} are one key to HMAC`);
    blocks.push({ id: held.id, block });
    keys.set(held.id, held);
  }
  const compromised = new Set(options.compromised ?? []);
  for (const id of compromised) checkKeyId(id);
  if (compromised.has(options.current.id)) {
    throw keyInvalid(`the current key ${options.current.id} is listed as compromised`);
  }
  const current = keys.get(options.current.id)!;
  return { current, keys, compromised, mac, cipher: options.cipher };
}

function hold(named: NamedKey): HeldKey {
  checkKeyId(named.id);
  const { key } = named;
  if (!(key instanceof Uint8Array)) throw keyInvalid(`key ${named.id} is not a Uint8Array`);
  if (key.length < KEY_BYTES_MIN) {
    throw keyInvalid(`key ${named.id} is shorter than ${KEY_BYTES_MIN} bytes`);
  }
  return { id: named.id, bytes: Uint8Array.from(key), macs: new Map(), ciphers: new Map() };
}

function checkKeyId(id: unknown): void {
  if (typeof id !== "string" || !testPattern(KEY_ID, id)) {
    throw keyInvalid("a key id is 1 to 64 of A-Z a-z 0-9 . _ -");
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.every((byte, i) => byte === b[i]);
}

/** Longer than a block, with characters of one, two and three bytes. */
const PROBE = "holdpoint-seal \u00e9\u2713 ".repeat(8);
const PROBE_MAC = "_uZAsoVYgrUKbpnOrjoxXg8RVPVohd-MpP-7-VueZkM";
const proven = new WeakSet<Mac>();

/** The known answer of HMAC-SHA256; a MAC is asked for it once. */
function checkMac(mac: Mac): void {
  if (proven.has(mac)) return;
  const ours = mac === defaultMac || mac === nobleMac;
  let right = false;
  try {
    const keyed = mac.prepare(Uint8Array.from({ length: DERIVED_BYTES }, (_, i) => i));
    right = equalMacs(keyed(PROBE, ""), PROBE_MAC) && equalMacs(keyed("", PROBE), PROBE_MAC);
  } catch (error) {
    // What a hash throws that was replaced before import says nothing; what a caller's MAC throws does.
    if (!ours || error instanceof SealError) throw error;
  }
  if (!right && ours) throw new SealError("platform-altered", "HMAC-SHA256 gives another answer");
  if (!right) throw keyInvalid("the MAC given is not HMAC-SHA256 in base64 with the URL alphabet");
  proven.add(mac);
}

function keyInvalid(message: string): SealError {
  return new SealError("key-invalid", message);
}

/** Makes a keyring. @throws SealError `key-invalid` for a short key, a bad or repeated id, twin keys. */
export function createKeyring(options: KeyringOptions): Keyring {
  return new Keyring(options);
}

/** A ring of one key, under the id `k1`. @throws SealError `key-invalid` */
export function keyringOf(key: Uint8Array): Keyring {
  return new Keyring({ current: { id: "k1", key } });
}

const RANDOM_KEY_BYTES = 32;
const RANDOM_ID_BYTES = 6;
let ofProcess: Keyring | undefined;

/**
 * The keyring of a random key that lives as long as this process; the same ring at each call.
 * What it sealed can't be opened after a restart: good for tests and in-memory stores.
 *
 * @param say Told once a process, when the key is made: put the line into a log.
 */
export function processKeyring(say?: (line: string) => void): Keyring {
  if (ofProcess !== undefined) return ofProcess;
  const key = crypto.getRandomValues(new Uint8Array(RANDOM_KEY_BYTES));
  const id = `process-${toBase64(crypto.getRandomValues(new Uint8Array(RANDOM_ID_BYTES)))}`;
  ofProcess = new Keyring({ current: { id, key } }, true);
  say?.(
    `no key was given: sealing with a random one (${id}); a restart makes its seals unreadable`,
  );
  return ofProcess;
}
