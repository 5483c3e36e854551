/**
 * The envelope: a text, a header, and the MAC that covers both.
 *
 * E1 Bytes are signed, not values (SEAL-27): the body is the sealed text as a string. A store may
 *    re-order and re-space the members of the envelope, and the seal still holds.
 * E2 The order of checks is fixed: shape, version, purpose, key, MAC; only then is the body looked
 *    at by anybody (SEAL-26). Whatever fails gives one error, but for an unknown version and the
 *    key's name, which prove nothing (SEAL-28).
 * E3 Nothing in the text chooses an algorithm (SEAL-32): the version alone does. Version 1 has the
 *    body as it is, version 2 enciphered by the ring's cipher; both under HMAC-SHA256.
 */
import { fromBase64, toBase64 } from "../canonical/base64.ts";
import { SealError, SealTamperedError } from "../errors.ts";
import { BYTES_DEFAULT, ENVELOPE_EXTRA_BYTES, ENVELOPE_FACTOR } from "../limits.ts";
import {
  byteLength,
  createObject,
  defineData,
  fromUtf8,
  isSafeInteger,
  isWellFormed,
  jsonParse,
  jsonStringify,
  objectKeys,
  setHas,
  sliceText,
  utf8,
} from "../platform.ts";
import { placesOf, readMembers, stringAt } from "./members.ts";
import {
  checkHeader,
  headerAsWritten,
  headerProblem,
  headerText,
  NO_HEADER,
  RESERVED_MEMBERS,
  type Header,
} from "./header.ts";
import { quoteJson } from "./quote.ts";
import type { Keyring } from "./keyring.ts";
import { equalMacs } from "./mac.ts";
import { checkPurpose, type Purpose } from "./purpose.ts";

export interface SignOptions {
  readonly keyring: Keyring;
  readonly purpose: Purpose;
  readonly header?: Header;
}

export interface Signed {
  /** The envelope: JSON, `v` first and `mac` last. */
  readonly text: string;
  /** The MAC as it stands in the text: 43 characters of base64. */
  readonly mac: string;
}

export interface VerifyOptions {
  readonly keyring: Keyring;
  readonly purpose: Purpose;
  /** Largest body in UTF-8 bytes; longer texts are refused unread. Default 16 MiB. */
  readonly bodyBytesMax?: number;
}

export interface Verified {
  /** The text that was signed, byte for byte. Nothing of it has been parsed. */
  readonly body: string;
  readonly header: Header;
  readonly keyId: string;
  readonly mac: string;
}

const PLAIN_VERSION = 1;
const CIPHER_VERSION = 2;

/**
 * Signs a text under the ring's current key.
 *
 * @throws SealError `option-invalid` for a bad purpose, header or body
 */
export function sign(body: string, options: SignOptions): Signed {
  return signQuoted(body, options, jsonStringify);
}

/** {@link sign} of a sealed text, which is JSON: none of its characters is a control. */
export function signSealed(body: string, options: SignOptions): Signed {
  return signQuoted(body, options, quoteJson);
}

function signQuoted(body: string, options: SignOptions, quote: (text: string) => string): Signed {
  const { keyring, purpose, header = NO_HEADER } = options;
  checkPurpose(purpose);
  checkHeader(header);
  if (typeof body !== "string" || !isWellFormed(body)) {
    throw new SealError("option-invalid", "the body is not well-formed text");
  }
  const kid = keyring.currentId;
  const cipher = keyring.cipher(kid, purpose);
  const version = cipher === undefined ? PLAIN_VERSION : CIPHER_VERSION;
  const written = cipher === undefined ? body : toBase64(cipher.encrypt(utf8(body)));
  const own = headerText(header);
  const mac = keyring.signer(purpose)(macHead(version, purpose, kid, own, written), written);
  if (written.length > JOINED_CHARS_MAX && quote === jsonStringify) {
    return { text: printedWhole([version, purpose, kid, own], written, mac), mac };
  }
  // Purpose, key id and MAC are of alphabets that need no escapes.
  const members = own === "{}" ? "" : `${sliceText(own, 1, -1)},`;
  const head = `{"v":${version},"purpose":"${purpose}","kid":"${kid}",${members}"body":`;
  return { text: `${head}${quote(written)},"mac":"${mac}"}`, mac };
}

/** A longer text that is joined of parts is copied once more when it is first read. */
const JOINED_CHARS_MAX = 16_384;

/** The same envelope as one object, printed at once. Names of a header are no indexes, so they stay as they are put in. */
function printedWhole(
  [version, purpose, kid, own]: readonly [number, Purpose, string, string],
  body: string,
  mac: string,
): string {
  const whole = createObject(null);
  whole["v"] = version;
  whole["purpose"] = purpose;
  whole["kid"] = kid;
  const header = jsonParse(own) as Header;
  const names = objectKeys(header);
  for (let i = 0; i < names.length; i++) whole[names[i]!] = header[names[i]!];
  whole["body"] = body;
  whole["mac"] = mac;
  return jsonStringify(whole);
}

/**
 * Verifies an envelope and gives the very text that was signed.
 *
 * @throws SealError `checkpoint-tampered` (with `keyId` where the key it names is not in the
 *   ring), `seal-version-unsupported`, `key-compromised`, `cipher-missing`, `option-invalid`
 */
export function verify(text: string, options: VerifyOptions): Verified {
  const { keyring, purpose, bodyBytesMax = BYTES_DEFAULT } = options;
  checkPurpose(purpose);
  const known = verifiedAsWritten(text, keyring, purpose, longest(bodyBytesMax));
  if (known !== undefined) return known;
  const members = typeof text === "string" ? readMembers(text, longest(bodyBytesMax)) : undefined;
  if (members === undefined) throw new SealTamperedError();
  const version = members["v"];
  const kid = members["kid"];
  const body = members["body"];
  const mac = members["mac"];
  if (typeof version !== "number" || !isSafeInteger(version)) throw new SealTamperedError();
  if (version !== PLAIN_VERSION && version !== CIPHER_VERSION) throw unsupported(version);
  if (members["purpose"] !== purpose) throw new SealTamperedError();
  if (typeof kid !== "string" || typeof body !== "string") throw new SealTamperedError();
  const header = headerOf(members);
  if (typeof mac !== "string" || header === undefined || !isWellFormed(body)) {
    throw new SealTamperedError();
  }
  const expected = keyring.verifier(kid, purpose);
  const own = headerText(header);
  if (!equalMacs(mac, expected(macHead(version, purpose, kid, own, body), body))) {
    throw new SealTamperedError();
  }
  const opened = version === PLAIN_VERSION ? body : decipher(body, keyring, kid, purpose);
  return { body: opened, header, keyId: kid, mac };
}

/**
 * E4 An envelope that stands as the writer writes it is read by its places, and its header as the very text that the MAC covers.
 *    Whatever is otherwise in any way, or wrong, is left to the reader that takes every order and spacing, and that refuses.
 */
export function verifiedAsWritten(
  text: string,
  keyring: Keyring,
  purpose: Purpose,
  charsMax: number,
): Verified | undefined {
  const places = typeof text === "string" ? placesOf(text, purpose, charsMax) : undefined;
  if (places === undefined || places.kid !== keyring.currentId) return undefined;
  const { kid, own, mac } = places;
  const body = stringAt(text, places.body);
  if (body === undefined || !isWellFormed(body)) return undefined;
  const expected = keyring.signer(purpose);
  const input = macHead(PLAIN_VERSION, purpose, kid, own, body);
  if (!equalMacs(mac, expected(input, body))) return undefined;
  const header = headerAsWritten(own);
  return header && { body, header, keyId: kid, mac };
}

function longest(bodyBytesMax: number): number {
  return bodyBytesMax * ENVELOPE_FACTOR + ENVELOPE_EXTRA_BYTES;
}

function unsupported(version: number): SealError {
  const message = `this text has seal version ${version}, which this release doesn't read`;
  return new SealError("seal-version-unsupported", message, { version });
}

function headerOf(members: Readonly<Record<string, unknown>>): Header | undefined {
  const header: Record<string, string | number | boolean | null> = {};
  const names = objectKeys(members);
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    if (!setHas(RESERVED_MEMBERS, name)) defineData(header, name, members[name]);
  }
  return headerProblem(header) === undefined ? header : undefined;
}

/**
 * What stands before the body under the MAC. Label, version, purpose and key id are of alphabets
 * without a line feed; header and body are preceded by their length in bytes, so no text of theirs
 * can be taken for a separator (SEAL-29).
 */
function macHead(
  version: number,
  purpose: Purpose,
  kid: string,
  header: string,
  body: string,
): string {
  const lengths = `${byteLength(header)}\n${header}\n${byteLength(body)}`;
  return `holdpoint-seal\n${version}\n${purpose}\n${kid}\n${lengths}\n`;
}

function decipher(body: string, keyring: Keyring, kid: string, purpose: Purpose): string {
  const cipher = keyring.cipher(kid, purpose);
  if (cipher === undefined) {
    throw new SealError(
      "cipher-missing",
      `the body is enciphered under key ${kid}; give the keyring its cipher`,
      {
        keyId: kid,
      },
    );
  }
  const bytes = fromBase64(body);
  if (bytes === undefined) throw new SealTamperedError();
  try {
    return fromUtf8(cipher.decrypt(bytes));
  } catch {
    // The cipher's own message may speak of its key or its text.
    throw new SealTamperedError();
  }
}
