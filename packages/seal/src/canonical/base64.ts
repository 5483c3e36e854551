import { charCodeAt, fromUtf8, lengthOf } from "../platform.ts";

/**
 * Base64 with the URL alphabet and no padding: the one spelling that this format uses for bytes,
 * digests and MACs. Each byte string has one text, and the reader takes no other (SEAL-24).
 */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const INVALID = 255;
const bytesClass = Uint8Array;
const letters = new Uint8Array(64);
const values = new Uint8Array(256).fill(INVALID);
for (let i = 0; i < 64; i++) {
  letters[i] = ALPHABET.charCodeAt(i);
  values[ALPHABET.charCodeAt(i)] = i;
}

/** Characters of the text of so many bytes. */
export function base64Length(bytes: number): number {
  const rest = bytes % 3;
  return ((bytes - rest) / 3) * 4 + (rest === 0 ? 0 : rest + 1);
}

export function toBase64(bytes: Uint8Array): string {
  const length = lengthOf(bytes);
  const out = new bytesClass(base64Length(length));
  let to = 0;
  // Past its end a typed array reads as nothing, whose bits are zero, and takes nothing: the last group is as long as its text.
  for (let i = 0; i < length; i += 3) {
    const triple = (bytes[i]! << 16) | (bytes[i + 1]! << 8) | bytes[i + 2]!;
    out[to++] = letters[triple >> 18]!;
    out[to++] = letters[(triple >> 12) & 63]!;
    out[to++] = letters[(triple >> 6) & 63]!;
    out[to++] = letters[triple & 63]!;
  }
  return fromUtf8(out);
}

/** The bytes of `text`, or undefined where another text, or none, is the spelling of some bytes. */
export function fromBase64(text: string): Uint8Array | undefined {
  const { length } = text;
  const rest = length % 4;
  if (rest === 1) return undefined;
  const out = new bytesClass(((length - rest) / 4) * 3 + (rest === 0 ? 0 : rest - 1));
  let to = 0;
  let held = 0;
  let bits = 0;
  for (let i = 0; i < length; i++) {
    const code = charCodeAt(text, i);
    const value = code < 256 ? values[code]! : INVALID;
    if (value === INVALID) return undefined;
    held = ((held << 6) | value) & 0xfff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out[to++] = (held >> bits) & 255;
    }
  }
  // Bits beyond the last byte must be zero, else two texts would stand for the same bytes.
  return (held & ((1 << bits) - 1)) === 0 ? out : undefined;
}

/** A string's UTF-16 units, low byte first: how a string that UTF-8 can't carry is kept (SEAL-14). */
export function unitsToBase64(text: string): string {
  const bytes = new bytesClass(text.length * 2);
  for (let i = 0; i < text.length; i++) {
    const unit = charCodeAt(text, i);
    bytes[2 * i] = unit & 255;
    bytes[2 * i + 1] = unit >> 8;
  }
  return toBase64(bytes);
}
