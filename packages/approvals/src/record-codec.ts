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
  type Keyring,
  type Verified,
} from "@holdpoint/seal";

import { appendFacts, emptyChain, type Chain } from "./audit.ts";
import type { Row, Write } from "./commit.ts";
import { ApprovalError } from "./errors.ts";
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

export interface RecordCodecOptions {
  readonly keyring: Keyring;
  readonly sealer: ArgumentSealer;
  /** The schema that arguments of a tool are read with, where they hold registered classes. */
  readonly schema: (tool: string) => unknown;
}

interface Body {
  readonly format: 1;
  readonly record: ApprovalRecord;
  readonly chain: Chain;
}

export class RecordCodec {
  readonly #options: RecordCodecOptions;

  constructor(options: RecordCodecOptions) {
    this.#options = options;
  }

  get keyring(): Keyring {
    return this.#options.keyring;
  }

  /** A snapshot of arguments, as of now. @throws SealError where they can't be sealed */
  bind(value: unknown): BoundArguments {
    const { sealer } = this.#options;
    return { text: sealer.encode(value), digest: sealer.digest(value) };
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
    const { text } = sign(encode(body), { keyring, purpose: PURPOSES.approval, header });
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

  /** @throws ApprovalError `record-tampered` */
  open(scope: string, row: Row): OpenRecord {
    const sealed = row.values["sealed"];
    if (typeof sealed !== "string") throw tampered(row.key, "the sealed column is no text");
    const { header, body } = this.#verify(sealed, row.key);
    const { record, chain } = readBody(body, row.key);
    const own =
      header["scope"] === scope &&
      header["id"] === row.key &&
      header["version"] === row.version &&
      header["state"] === record.state &&
      record.id === row.key &&
      record.facts.scope === scope;
    if (!own) throw tampered(row.key, "the seal is of another record, state or version"); // K1
    for (const [name, value] of Object.entries(columnsOf(record, sealed))) {
      if (row.values[name] !== value) throw tampered(row.key, `the column ${name} was changed`); // K2
    }
    return { record, version: row.version, chain };
  }

  #verify(sealed: string, id: string): Verified {
    try {
      return verify(sealed, { keyring: this.#options.keyring, purpose: PURPOSES.approval });
    } catch (cause) {
      throw tampered(id, "its seal does not open with the keyring given here", cause);
    }
  }
}

function readBody(text: string, id: string): Body {
  const body: unknown = decode(text);
  if (typeof body !== "object" || body === null || Reflect.get(body, "format") !== 1) {
    throw tampered(id, "it is of a format that this version does not read");
  }
  return body as Body; // sealed by us: what has the MAC was written by `writes`
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

function tampered(id: string, why: string, cause?: unknown): ApprovalError {
  return new ApprovalError("record-tampered", `the approval ${id} can't be trusted: ${why}`, {
    approvalId: id,
    ...(cause === undefined ? {} : { cause }),
  });
}
