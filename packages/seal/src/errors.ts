/**
 * Errors of this package. One base, a closed union of codes, data in fields.
 *
 * Messages and fields carry paths, ids and figures; never a value, a key, or anything about a MAC.
 */

/** Every code of this package. Add at the end; a code's meaning never changes. */
export type SealErrorCode =
  /** The value holds something that can't be sealed; `path`, `found` and `advice` say what. */
  | "state-not-sealable"
  /** The text is not one that this format writes; `path` says where. */
  | "seal-malformed"
  /** The sealed text was changed, or was sealed under another key or for another purpose. */
  | "checkpoint-tampered"
  /** The sealed text names a format version that this release doesn't know; see `version`. */
  | "seal-version-unsupported"
  /** The sealed text names a key that the keyring lists as compromised; see `keyId`. */
  | "key-compromised"
  /** A key, key id or set of keys that no keyring takes. */
  | "key-invalid"
  /** The body is enciphered and the keyring has no cipher. */
  | "cipher-missing"
  /** The text names a class that the given schema doesn't reach, or nobody registered. */
  | "class-not-allowed"
  /** The text holds a Temporal value and there is no Temporal to build it with. */
  | "temporal-missing"
  /** A purpose, header, limit, model or codec that can't be used. */
  | "option-invalid"
  /** A built-in of the runtime was replaced in a way that would change what is written or read. */
  | "platform-altered";

/** Data of an error beside its code and message; what is absent is not known. */
export interface SealErrorFields {
  readonly path?: string | undefined;
  readonly found?: string | undefined;
  readonly advice?: string | undefined;
  readonly keyId?: string | undefined;
  readonly version?: number | undefined;
  /** Name of the model or codec that was at work. */
  readonly name?: string | undefined;
  readonly limit?: number | undefined;
  readonly figure?: number | undefined;
  readonly cause?: unknown;
}

const BRAND = Symbol.for("@holdpoint/seal.error");

/** Base of all errors of this package. Recognise one with {@link isSealError}, not by its class. */
export class SealError extends Error {
  /** Tells an error of any copy of this package. */
  readonly [BRAND] = true;
  readonly code: SealErrorCode;
  readonly path: string | undefined;
  readonly found: string | undefined;
  readonly advice: string | undefined;
  readonly keyId: string | undefined;
  readonly version: number | undefined;
  readonly codecOrModel: string | undefined;
  readonly limit: number | undefined;
  readonly figure: number | undefined;

  constructor(code: SealErrorCode, message: string, fields: SealErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = "SealError";
    this.code = code;
    this.path = fields.path;
    this.found = fields.found;
    this.advice = fields.advice;
    this.keyId = fields.keyId;
    this.version = fields.version;
    this.codecOrModel = fields.name;
    this.limit = fields.limit;
    this.figure = fields.figure;
  }
}

/** `state-not-sealable`: where (`path`), what (`found`), and what to do about it (`advice`). */
export class NotSealableError extends SealError {
  constructor(path: string, found: string, advice: string, fields: SealErrorFields = {}) {
    const where = path === "" ? "the value itself" : path;
    super("state-not-sealable", `${where} can't be sealed: ${found}. ${advice}.`, {
      ...fields,
      path,
      found,
      advice,
    });
    this.name = "NotSealableError";
  }
}

/** `seal-malformed` (or `class-not-allowed`, `temporal-missing`): a text that is not read, and where. */
export class SealDecodeError extends SealError {
  constructor(
    path: string,
    reason: string,
    fields: SealErrorFields = {},
    code: SealErrorCode = "seal-malformed",
  ) {
    const where = path === "" ? "the text" : path;
    super(code, `${where} can't be read: ${reason}.`, { ...fields, path, found: reason });
    this.name = "SealDecodeError";
  }
}

const TAMPERED =
  "this text was changed after it was sealed, or was sealed with another key or for another purpose; " +
  "check that the keyring holds the key it was sealed with";

/** `checkpoint-tampered`: one text for every way in which a seal can fail to hold. */
export class SealTamperedError extends SealError {
  constructor(keyId?: string) {
    super(
      "checkpoint-tampered",
      keyId === undefined ? TAMPERED : `${TAMPERED} (it names key ${keyId}, which is not there)`,
      { keyId },
    );
    this.name = "SealTamperedError";
  }
}

/** Whether `value` is an error of this package, of any copy of it, and of that code if one is given. */
export function isSealError(value: unknown, code?: SealErrorCode): value is SealError {
  if (typeof value !== "object" || value === null) return false;
  const branded = (value as { [BRAND]?: unknown })[BRAND] === true;
  return branded && (code === undefined || (value as { code?: unknown }).code === code);
}
