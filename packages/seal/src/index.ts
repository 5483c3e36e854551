// Values
export { canonicalize, createSealer, decode, digest, encode, open, seal } from "./sealer.ts";
export type {
  DecodeOptions,
  Opened,
  OpenOptions,
  Sealer,
  SealerOptions,
  SealOptions,
} from "./sealer.ts";
export type { LargeFigure } from "./canonical/settings.ts";
export type { TemporalClass, TemporalNamespace } from "./canonical/temporal.ts";
export { digestText } from "./sealing/digest.ts";
export { DEFAULT_LIMITS, type Limits } from "./limits.ts";

// Classes and custom values
export { defineCodec, type Codec } from "./models/codec.ts";
export type { Model } from "./models/model.ts";

// Seals
export { sign, verify } from "./sealing/envelope.ts";
export type { Signed, SignOptions, Verified, VerifyOptions } from "./sealing/envelope.ts";
export type { Header } from "./sealing/header.ts";
export { PURPOSES, type Purpose } from "./sealing/purpose.ts";

// Keys
export { createKeyring, Keyring, keyringOf, processKeyring } from "./sealing/keyring.ts";
export type { KeyringOptions, NamedKey } from "./sealing/keyring.ts";
export { nobleMac, type Mac, type MacKey } from "./sealing/mac.ts";
export type { Cipher, CipherKey } from "./sealing/cipher.ts";

// Errors
export {
  isSealError,
  NotSealableError,
  SealDecodeError,
  SealError,
  SealTamperedError,
} from "./errors.ts";
export type { SealErrorCode, SealErrorFields } from "./errors.ts";
