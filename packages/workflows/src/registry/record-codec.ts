/**
 * The one place that seals and opens run records.
 *
 * K1 A record is sealed whole. Its scope, id, status and row version are in the header, so a row put under another id, status
 *    or version does not open: an older genuine row put back is noticed (STORE-12).
 * K2 Unsealed columns are indexes: each is compared with the sealed value at each read.
 * K3 The input is a sealed text within the sealed text: a record opens without the classes that the input may hold.
 * K4 Format 2 has the column `dueAt`. A record of format 1 opens as before, its column not compared: what it waits for may end by
 *    itself at a time that it does not say, so whoever brings a store up makes it due, and its owner's look writes it anew.
 */

import type { Row, Write } from "@holdpoint/approvals";
import { decode, encode, sign, verify, type Keyring } from "@holdpoint/seal";

import { WorkflowError } from "../errors.ts";
import { frozen, KnownRecords, type KnownRecord } from "./known-records.ts";
import { dueOf, type RunRecord } from "./record.ts";
import { runWrite, type RunColumns } from "./store.ts";

/** A seal of a run's record opens as nothing else. */
const purpose = "run-record";

/** A record as it was read: what it says, and what the next write has to expect. */
export interface OpenRun {
  readonly record: RunRecord;
  /** The row's version; 0: there is none yet. */
  readonly version: number;
  /** Of format 1 (K4). */
  readonly outdated?: true;
}

interface Body {
  readonly format: 1 | 2;
  readonly record: RunRecord;
}

export class RunCodec {
  readonly #keyring: Keyring;
  readonly #known = new KnownRecords<Body>();

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  /** The write that makes a record stand where version `expect` does. */
  write(record: RunRecord, expect: number): Write {
    const { scope, id } = record.facts;
    const body: Body = { format: 2, record };
    const header = { scope, id, status: record.standing.status, version: expect + 1 }; // K1
    const encoded = encode(body);
    const { text } = sign(encoded, { keyring: this.#keyring, purpose, header });
    this.#known.keep(text, { header, text: encoded, body: undefined });
    return runWrite(scope, id, expect, columnsOf(record, text));
  }

  /** @throws WorkflowError `record-tampered` */
  open(scope: string, row: Row): OpenRun {
    const sealed = row.values["sealed"];
    if (typeof sealed !== "string") throw tampered(row.key, "the sealed column is no text");
    const known = this.#known.of(sealed) ?? this.#verify(sealed, row.key);
    const { header } = known;
    const { format, record } = (known.body ??= frozen(readBody(known.text, row.key)));
    const own =
      header["scope"] === scope &&
      header["id"] === row.key &&
      header["version"] === row.version &&
      header["status"] === record.standing.status &&
      record.facts.id === row.key &&
      record.facts.scope === scope;
    if (!own) throw tampered(row.key, "the seal is of another run, status or version"); // K1
    for (const [name, value] of Object.entries(columnsOf(record, sealed))) {
      if (format === 1 && name === "dueAt") continue; // K4
      if (row.values[name] !== value) throw tampered(row.key, `the column ${name} was changed`); // K2
    }
    return { record, version: row.version, ...(format === 1 && { outdated: true }) };
  }

  #verify(sealed: string, runId: string): KnownRecord<Body> {
    try {
      const { header, body: text } = verify(sealed, { keyring: this.#keyring, purpose });
      const known: KnownRecord<Body> = { header, text, body: undefined };
      this.#known.keep(sealed, known);
      return known;
    } catch (cause) {
      throw tampered(runId, "its seal does not open with the keyring given here", cause);
    }
  }
}

function readBody(text: string, runId: string): Body {
  const body: unknown = decode(text);
  const format: unknown =
    typeof body === "object" && body !== null ? Reflect.get(body, "format") : undefined;
  if (format !== 1 && format !== 2) {
    throw tampered(runId, "it is of a format that this version does not read");
  }
  const read = body as Body & { readonly record: Partial<RunRecord> }; // sealed by us: what has the MAC was written by `write`
  return { ...read, record: { ...read.record, retries: read.record.retries ?? 0 } };
}

function columnsOf(record: RunRecord, sealed: string): RunColumns {
  const { facts, standing, updatedAt } = record;
  return {
    definition: facts.definition,
    version: facts.version,
    status: standing.status,
    session: facts.session ?? null,
    startKey: facts.startKey ?? null,
    createdAt: facts.createdAt,
    updatedAt,
    dueAt: dueOf(record) ?? null,
    sealed,
  };
}

function tampered(runId: string, why: string, cause?: unknown): WorkflowError {
  return new WorkflowError(
    "record-tampered",
    `the record of run ${runId} can't be trusted: ${why}`,
    { runId },
    cause,
  );
}
