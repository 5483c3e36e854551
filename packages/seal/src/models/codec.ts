import { pattern, testPattern } from "../platform.ts";
import { SealError } from "../errors.ts";

/** A custom value's stand-in: how one kind of object is kept in texts (SEAL-45). */
export interface Codec<T = unknown, StandIn = unknown> {
  /** Name in the text; checked alphabet, so that a build can't change it. */
  readonly type: string;
  /** Whether the codec takes this object. Asked only for what the format itself doesn't know. */
  readonly is: (value: unknown) => boolean;
  /** The stand-in: any sealable value. It goes through the same walk and limits. */
  encode(value: T): StandIn;
  /** The value again. Throws where the stand-in is not one that `encode` makes. */
  decode(standIn: StandIn): T;
}

const NAME = pattern(/^[A-Za-z][A-Za-z0-9._/-]{0,63}$/);

/**
 * Declares a codec. Give it to `createSealer({ codecs: [...] })`; one codec a type.
 *
 * @throws SealError `option-invalid` for a type name that is not 1 to 64 of `A-Z a-z 0-9 . _ / -`,
 *   a letter first.
 */
export function defineCodec<T, StandIn>(codec: {
  readonly type: string;
  readonly is: (value: unknown) => value is T;
  readonly encode: (value: T) => StandIn;
  readonly decode: (standIn: StandIn) => T;
}): Codec<T, StandIn> {
  checkName("codec", codec.type);
  return Object.freeze({ ...codec });
}

/** Names that stand in texts: models' and codecs'. */
export function checkName(kind: "codec" | "model", name: string): void {
  if (typeof name !== "string" || !testPattern(NAME, name)) {
    throw new SealError("option-invalid", `a ${kind}'s name is 1 to 64 of A-Z a-z 0-9 . _ / -`);
  }
}
