import type { Limits } from "../limits.ts";
import type { Codec } from "../models/codec.ts";
import type { Model } from "../models/model.ts";
import type { Registry } from "./registry.ts";

/** What a sealer was made with, resolved once. */
export interface CodecSettings {
  readonly limits: Limits;
  readonly registry: Registry;
  readonly modelOf: ReadonlyMap<object, Model>;
  readonly modelNamed: ReadonlyMap<string, Model>;
  readonly codecs: readonly Codec[];
  readonly codecOf: ReadonlyMap<string, Codec>;
  /** Tags of Temporal values, whether or not there is a Temporal. */
  readonly temporalTags: ReadonlySet<string>;
  readonly onLarge: ((figure: LargeFigure) => void) | undefined;
}

export interface LargeFigure {
  readonly bytes: number;
  readonly warnBytes: number;
}
