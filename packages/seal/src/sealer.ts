import { checkText, decodeText } from "./canonical/decode.ts";
import { Walk } from "./canonical/encode.ts";
import { isPlainOwn } from "./canonical/own.ts";
import { printCanonical } from "./canonical/print.ts";
import { Registry } from "./canonical/registry.ts";
import type { Json } from "./canonical/row.ts";
import type { CodecSettings, LargeFigure } from "./canonical/settings.ts";
import { TEMPORAL_TAGS, temporalRows, type TemporalNamespace } from "./canonical/temporal.ts";
import { NotSealableError, SealError } from "./errors.ts";
import { checkPlatform, checkPrototypes } from "./guard.ts";
import { DEFAULT_LIMITS, DEPTH_CEILING, type Limits } from "./limits.ts";
import type { Codec } from "./models/codec.ts";
import type { Model } from "./models/model.ts";
import {
  arrayPrototype,
  byteLength,
  getPrototypeOf,
  includesText,
  isArray,
  jsonStringify,
} from "./platform.ts";
import { digestText } from "./sealing/digest.ts";
import {
  signSealed,
  verify,
  type SignOptions,
  type Verified,
  type VerifyOptions,
} from "./sealing/envelope.ts";

export interface SealerOptions {
  /** Classes that may stand in texts (SEAL-40). */
  readonly models?: readonly Model[];
  /** Stand-ins for objects that the format doesn't know (SEAL-45). */
  readonly codecs?: readonly Codec[];
  readonly limits?: Partial<Limits>;
  /** Default: the runtime's. A polyfill's namespace where there is none. */
  readonly temporal?: TemporalNamespace;
  /** Told of each text from `limits.warnBytes` on, before it is returned. */
  readonly onLarge?: (figure: LargeFigure) => void;
}

export interface DecodeOptions {
  /** The zod schema or schemas whose classes may be built. Without one, none are (SEAL-41). */
  readonly schema?: unknown;
}

export type SealOptions = SignOptions;

export interface OpenOptions extends Omit<VerifyOptions, "bodyBytesMax"> {
  readonly schema?: unknown;
}

export interface Opened extends Omit<Verified, "body"> {
  readonly value: unknown;
}

/** A codec with its models, codecs and limits. */
export interface Sealer {
  /** The sealed text: own order. @throws `state-not-sealable`, `platform-altered` */
  readonly encode: (value: unknown) => string;
  /**
   * As `encode`, of data that the caller has built itself and that nobody else holds: lists and objects without accessors,
   * hidden properties or proxies, of which none is looked for. What was not built so may run its code here.
   */
  readonly encodeOwn: (value: unknown) => string;
  /** The canonical form: names, entries and members sorted. @throws as `encode` */
  readonly canonicalize: (value: unknown) => string;
  /** SHA-256 of the canonical form, 43 characters of base64. @throws as `encode` */
  readonly digest: (value: unknown) => string;
  /** @throws `seal-malformed`, `class-not-allowed`, `temporal-missing`, `platform-altered` */
  readonly decode: (text: string, options?: DecodeOptions) => unknown;
  /** Refuses what `decode` would refuse, building nothing (SEAL-42). @throws as `decode` */
  readonly assertLoadable: (text: string, options?: DecodeOptions) => void;
  /** Encodes and signs. @throws as `encode` and `sign` */
  readonly seal: (value: unknown, options: SealOptions) => string;
  /** Verifies, then decodes. @throws as `verify` and `decode` */
  readonly open: (text: string, options: OpenOptions) => Opened;
}

/**
 * Makes a sealer.
 *
 * @throws SealError `option-invalid` for two classes or codecs under one name, or limits out of range
 */
export function createSealer(options: SealerOptions = {}): Sealer {
  const settings = resolve(options);
  const encode = (value: unknown): string => {
    ready();
    return writeText(value, settings);
  };
  const canonicalize = (value: unknown): string => {
    ready();
    return writeCanonical(value, settings);
  };
  const models = options.models ?? [];
  const allowed = (schema: unknown): ReadonlySet<string> =>
    models[0]?.reachable(isArray(schema) ? schema : [schema], models) ?? NO_MODELS;
  const decode = (text: string, { schema }: DecodeOptions = {}): unknown => {
    ready();
    return decodeText(text, settings, allowed(schema));
  };
  return Object.freeze({
    encode,
    encodeOwn(value: unknown) {
      ready();
      return writeOwn(value, settings) ?? writeText(value, settings);
    },
    canonicalize,
    digest: (value: unknown) => digestText(canonicalize(value)),
    decode,
    assertLoadable(text: string, { schema }: DecodeOptions = {}) {
      ready();
      checkText(text, settings, allowed(schema));
    },
    seal: (value: unknown, sealOptions: SealOptions) => signSealed(encode(value), sealOptions).text,
    open(text: string, { schema, keyring, purpose }: OpenOptions): Opened {
      const bodyBytesMax = settings.limits.bytes;
      const { body, header, keyId, mac } = verify(text, { keyring, purpose, bodyBytesMax });
      return { value: decode(body, { schema }), header, keyId, mac };
    },
  });
}

const NO_MODELS: ReadonlySet<string> = new Set();
let checked = false;

function ready(): void {
  checkPrototypes();
  if (checked) return;
  digestText("");
  const settings = resolve({});
  checkPlatform({
    write: (value) => writeText(value, settings),
    canonical: (value) => writeCanonical(value, settings),
    read: (text) => decodeText(text, settings, NO_MODELS),
  });
  checked = true;
}

function writeCanonical(value: unknown, settings: CodecSettings): string {
  return writeText(value, settings, (tree) => printCanonical(tree, settings.registry));
}

function writeText(
  value: unknown,
  settings: CodecSettings,
  print: (tree: Json) => string = jsonStringify,
): string {
  const walked = new Walk(settings, false).root(value);
  // A codec has run: it may have put something there.
  if (settings.codecs.length > 0) checkPrototypes();
  let text = print(walked);
  // Well-formed printing leaves NUL and unpaired surrogates as escapes: rare, so searched for in
  // the text rather than in each string. An escaped backslash before `u0000` only costs a walk.
  if (includesText(text, "\\u0000") || includesText(text, "\\ud")) {
    text = print(new Walk(settings, true).root(value));
  }
  return finished(text, settings);
}

/** `undefined`: it needs a tag, or can't be written: the walk that writes it then knows where it passes a limit. */
function writeOwn(value: unknown, settings: CodecSettings): string | undefined {
  if (!isPlainOwn(value, settings.limits)) return undefined;
  const text = jsonStringify(value);
  if (includesText(text, "\\u0000") || includesText(text, "\\ud")) return undefined;
  return finished(text, settings);
}

/** A text that is within the limit; a large one is told of. */
function finished(text: string, { limits, onLarge }: CodecSettings): string {
  const { bytes: limit, warnBytes } = limits;
  const figure = measured(text, limits);
  if (figure > limit) {
    const advice = "Keep bulk data outside";
    throw new NotSealableError("", `its text passes ${limit} bytes`, advice, { limit, figure });
  }
  if (figure >= warnBytes) onLarge?.({ bytes: figure, warnBytes });
  return text;
}

/** UTF-8 bytes of a text; where as many as it could have meet no limit, those, uncounted. */
function measured(text: string, { bytes, warnBytes }: Limits): number {
  const most = text.length * 3;
  return most < warnBytes && most <= bytes ? most : byteLength(text);
}

function resolve(options: SealerOptions): CodecSettings {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  for (const name of Object.keys(DEFAULT_LIMITS) as (keyof Limits)[]) {
    const most = name === "depth" ? DEPTH_CEILING : Number.MAX_SAFE_INTEGER;
    if (!Number.isSafeInteger(limits[name]) || limits[name] < 1 || limits[name] > most) {
      throw new SealError("option-invalid", `limits.${name} is an integer from 1 to ${most}`);
    }
  }
  const models = options.models ?? [];
  const codecs = options.codecs ?? [];
  const temporal = options.temporal ?? (globalThis as { Temporal?: TemporalNamespace }).Temporal;
  const registry = new Registry(temporal === undefined ? [] : temporalRows(temporal));
  for (const model of models) checkClass(model, registry);
  const modelOf = new Map(models.map((model) => [model.prototype, model] as const));
  if (modelOf.size < models.length) throw new SealError("option-invalid", "a class has two models");
  return {
    limits,
    registry,
    modelOf,
    modelNamed: unique("model", models, (model) => model.name),
    codecs,
    codecOf: unique("codec", codecs, (codec) => codec.type),
    temporalTags: TEMPORAL_TAGS,
    onLarge: options.onLarge,
  };
}

/** What a Map, an Array or the like holds is in no field: such a class needs a codec. */
function checkClass(model: Model, registry: Registry): void {
  for (let at: object | null = model.prototype; at !== null; at = getPrototypeOf(at)) {
    if (registry.of(at) !== undefined || at === arrayPrototype) {
      const message = `model ${model.name} extends a built-in class whose contents are no fields`;
      throw new SealError("option-invalid", `${message}; use a codec`);
    }
  }
}

function unique<Item>(
  kind: string,
  items: readonly Item[],
  nameOf: (item: Item) => string,
): ReadonlyMap<string, Item> {
  const named = new Map<string, Item>();
  for (const item of items) {
    const name = nameOf(item);
    if (named.has(name)) throw new SealError("option-invalid", `two ${kind}s are named ${name}`);
    named.set(name, item);
  }
  return named;
}

let standard: Sealer | undefined;

/** Made on first use: importing the package starts nothing, and wakes no Temporal. */
function standardSealer(): Sealer {
  standard ??= createSealer();
  return standard;
}

/** {@link Sealer.encode} without models and codecs. */
export const encode = (value: unknown): string => standardSealer().encode(value);
/** {@link Sealer.canonicalize} without models and codecs. */
export const canonicalize = (value: unknown): string => standardSealer().canonicalize(value);
/** {@link Sealer.digest} without models and codecs. */
export const digest = (value: unknown): string => standardSealer().digest(value);
/** {@link Sealer.decode} without models and codecs. */
export const decode = (text: string): unknown => standardSealer().decode(text);
/** {@link Sealer.seal} without models and codecs. */
export const seal = (value: unknown, options: SealOptions): string =>
  standardSealer().seal(value, options);
/** {@link Sealer.open} without models and codecs. */
export const open = (text: string, options: OpenOptions): Opened =>
  standardSealer().open(text, options);
