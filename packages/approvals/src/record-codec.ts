/**
 * The one place that seals and opens records.
 *
 * K1 A record is sealed whole: facts, arguments, rule, votes, decision (APR-25). Its scope, id, state and version are in the
 *    header, so a row put under another id, state or version does not open.
 * K2 Unsealed columns are indexes: each is compared with the sealed value at each read.
 * K3 Arguments are a sealed text within the sealed text: a record opens without the schema that arguments of registered
 *    classes need, and nothing of theirs is built before somebody reads them.
 * K4 A row and the audit entries of its transitions are writes of one list (I11).
 */

import {
  digest,
  decode,
  encode,
  PURPOSES,
  sign,
  verify,
  type Header,
  type Keyring,
} from "@holdpoint/seal";

import { appendFacts, emptyChain, type Chain } from "./audit.ts";
import type { Row, Write } from "./commit.ts";
import { ApprovalError } from "./errors.ts";
import { frozen, knownUnder, type KnownRecord, type KnownRecords } from "./known-records.ts";
import type { ApprovalRecord, BoundArguments, Moved } from "./record.ts";
import { statements, type ApprovalColumns } from "./store.ts";

/** What this package needs of a sealer; one with models and codecs may be passed for arguments that hold them. */
export interface ArgumentSealer {
  encode(value: unknown): string;
  digest(value: unknown): string;
  decode(text: string, options?: { readonly schema?: unknown }): unknown;
}

export const plainSealer: ArgumentSealer = { encode, digest, decode: (text) => decode(text) };

/** A record as it was read: what it says, and what the next write has to expect. */
export interface OpenRecord<R extends ApprovalRecord = ApprovalRecord> {
  readonly record: R;
  readonly version: number;
  readonly chain: Chain;
}

/** A record as it was read, or why it can't be trusted. */
export type Examined = OpenRecord | { readonly fault: ApprovalError };

export interface RecordCodecOptions {
  readonly keyring: Keyring;
  readonly sealer: ArgumentSealer;
  /** The schema that arguments of a tool are read with, where they hold registered classes. */
  readonly schema: (tool: string) => unknown;
}

interface Body {
  /** 1 so far. A reader refuses what it does not know. */
  readonly format: number;
  readonly record: ApprovalRecord;
  readonly chain: Chain;
}

export class RecordCodec {
  readonly #options: RecordCodecOptions;
  readonly #known: KnownRecords;

  constructor(options: RecordCodecOptions) {
    this.#options = options;
    this.#known = knownUnder(options.keyring);
  }

  get keyring(): Keyring {
    return this.#options.keyring;
  }

  /** A snapshot of arguments, as of now. @throws SealError where they can't be sealed */
  bind(value: unknown): BoundArguments {
    const { sealer } = this.#options;
    return { text: sealer.encode(value), digest: sealer.digest(value) };
  }

  /** Free text or data beside the arguments, as of now; nothing is ever compared with it. @throws as `bind` */
  bindContext(value: unknown): string {
    return this.#options.sealer.encode(value);
  }

  /** The arguments as a value, freshly built. */
  read(bound: BoundArguments, tool: string): unknown {
    const schema = this.#options.schema(tool);
    return this.#options.sealer.decode(bound.text, schema === undefined ? {} : { schema });
  }

  /** Free text or data beside the arguments. */
  readContext(text: string): unknown {
    return this.#options.sealer.decode(text);
  }

  /** The writes that make a moved record stand where `opened` was read; `undefined`: a new one. */
  writes(
    opened: OpenRecord | undefined,
    moved: Moved,
    how: { readonly attemptId: string; readonly before?: number | undefined },
  ): readonly Write[] {
    const { record, facts } = moved;
    const { scope } = record.facts;
    const { keyring } = this.#options;
    const version = opened?.version ?? 0;
    const place = { scope, id: record.id };
    const appended = appendFacts(opened?.chain ?? emptyChain, facts, place, keyring); // K4
    const body: Body = { format: 1, record, chain: appended.chain };
    const header = { scope, id: record.id, state: record.state, version: version + 1 }; // K1
    const encoded = encode(body);
    const { text } = sign(encoded, { keyring, purpose: PURPOSES.approval, header });
    this.#known.keep(text, { header, text: encoded, body: undefined });
    const put: Write = {
      statement: statements.putRecord,
      scope,
      key: record.id,
      expect: version,
      values: { ...columnsOf(record, text) },
      ...(how.before === undefined ? {} : { before: how.before }),
    };
    return [put, ...appended.writes];
  }

  /** What a row says, or why it can't be trusted. */
  examine(scope: string, row: Row): Examined {
    const sealed = row.values["sealed"];
    if (typeof sealed !== "string") return fault(row, "the sealed column is no text");
    const opened = this.#opened(sealed);
    if ("cause" in opened) {
      return fault(row, "its seal does not open with the keyring given here", opened.cause);
    }
    const { header, body } = opened;
    if (body.format !== 1) return fault(row, "it is of a format that this version does not read");
    const { record, chain } = body;
    const own =
      header["scope"] === scope &&
      header["id"] === row.key &&
      header["version"] === row.version &&
      header["state"] === record.state;
    if (!own) return fault(row, "the seal is of another record, state or version"); // K1
    for (const [name, value] of Object.entries(columnsOf(record, sealed))) {
      if (row.values[name] !== value) return fault(row, `the column ${name} was changed`); // K2
    }
    return { record, version: row.version, chain };
  }

  #opened(
    sealed: string,
  ): { readonly header: Header; readonly body: Body } | { readonly cause: unknown } {
    try {
      const known = this.#known.of(sealed) ?? this.#verified(sealed);
      // What has the MAC was written by `writes`.
      const body = (known.body ??= frozen(decode(known.text)));
      return { header: known.header, body: body as Body };
    } catch (cause) {
      return { cause };
    }
  }

  #verified(sealed: string): KnownRecord {
    const { keyring } = this.#options;
    const { header, body: text } = verify(sealed, { keyring, purpose: PURPOSES.approval });
    const known: KnownRecord = { header, text, body: undefined };
    this.#known.keep(sealed, known);
    return known;
  }
}

function columnsOf(record: ApprovalRecord, sealed: string): ApprovalColumns {
  return {
    state: record.state,
    tool: record.facts.tool,
    runId: record.facts.runId,
    requestKey: record.requestKey,
    requestedAt: record.requestedAt,
    expiresAt: record.expiresAt ?? null,
    sealed,
  };
}

function fault({ key }: Row, why: string, cause?: unknown): { readonly fault: ApprovalError } {
  const message = `the approval ${key} can't be trusted: ${why}`;
  const details = cause === undefined ? {} : { cause };
  return { fault: new ApprovalError("record-tampered", message, { approvalId: key, ...details }) };
}
