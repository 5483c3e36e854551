import { createSealer, isSealError, type Sealer } from "@holdpoint/seal";
import type { Schema } from "@holdpoint/tools";

import { InvalidInputError, type Boundary, type InputIssue } from "../errors.ts";
import {
  documentBytesMax,
  documentDepthMax,
  documentMembersMax,
  issueCharactersMax,
  issuesMax,
} from "../limits.ts";
import { JsonRefusal, readStrictJson, type DocumentLimits } from "./strict-json.ts";
import { unknownFields } from "./unknown-fields.ts";

/** A document that its schema took. */
export interface Checked {
  /** As it was given. */
  readonly given: unknown;
  /** As the schema reads it. */
  readonly value: unknown;
  /** `given` in canonical form: one text for every spelling and order of members of the same document. */
  readonly canonical: string;
}

/** The bounds of a definition's documents (WF-02). */
export const documentLimits: DocumentLimits = {
  bytes: documentBytesMax,
  depth: documentDepthMax,
  members: documentMembersMax,
};

/** Reads a document's text strictly, then by its schema. @throws InvalidInputError */
export async function checkText(
  boundary: Boundary,
  schema: Schema,
  source: string | Uint8Array,
  limits: DocumentLimits,
): Promise<Checked> {
  let given: unknown;
  try {
    given = readStrictJson(source, limits);
  } catch (cause) {
    if (!(cause instanceof JsonRefusal)) throw cause;
    throw new InvalidInputError(boundary, [{ path: cause.path, message: cause.message }], cause);
  }
  const canonical = canonicalForm(boundary, given, limits);
  return checkSchema(boundary, schema, { given, canonical });
}

/**
 * Takes a value from code of the same program. Dates, maps and whatever else the seal codec knows may stand in it; the bound
 * on bytes holds for its canonical form.
 * @throws InvalidInputError
 */
export async function checkValue(
  boundary: Boundary,
  schema: Schema,
  given: unknown,
  limits: DocumentLimits,
): Promise<Checked> {
  const canonical = canonicalForm(boundary, given, limits);
  if (new TextEncoder().encode(canonical).length > limits.bytes) {
    throw refused(boundary, [{ path: "", message: `more than ${limits.bytes} bytes` }]);
  }
  return checkSchema(boundary, schema, { given, canonical });
}

async function checkSchema(
  boundary: Boundary,
  schema: Schema,
  document: Omit<Checked, "value">,
): Promise<Checked> {
  const unknown = unknownFields(schema, document.given);
  if (unknown.length > 0) {
    throw refused(
      boundary,
      unknown.map((path) => ({ path: path.join("."), message: "a field that the schema lacks" })),
    );
  }
  const read = await validated(boundary, schema, document.given);
  if (read.issues === undefined) return { ...document, value: read.value };
  const issues = read.issues.map(({ path = [], message }) => ({
    path: path.map((part) => String(typeof part === "object" ? part.key : part)).join("."),
    message,
  }));
  throw refused(boundary, issues);
}

/** What a schema says; one that throws has said no. What it threw is kept, and not shown: it may quote the document. */
async function validated(boundary: Boundary, schema: Schema, given: unknown): ReturnType<Validate> {
  try {
    return await schema["~standard"].validate(given);
  } catch (cause) {
    throw new InvalidInputError(boundary, [{ path: "", message: "its schema threw" }], cause);
  }
}

type Validate = (given: unknown) => Promise<Awaited<ReturnType<Schema["~standard"]["validate"]>>>;

function canonicalForm(boundary: Boundary, given: unknown, limits: DocumentLimits): string {
  try {
    return sealerFor(limits).canonicalize(given);
  } catch (cause) {
    if (!isSealError(cause)) throw cause;
    throw new InvalidInputError(
      boundary,
      [{ path: cause.path ?? "", message: cause.found ?? cause.message }],
      cause,
    );
  }
}

/**
 * Names that begin with `$` nest deeper in the canonical form, and some numbers and characters are longer there: a text that
 * was within its bounds has to stay so.
 */
function sealerFor({ bytes, depth }: DocumentLimits): Sealer {
  return createSealer({ limits: { bytes: bytes * 8, depth: Math.min(depth * 4, 1_000) } });
}

function refused(boundary: Boundary, issues: readonly InputIssue[]): InvalidInputError {
  return new InvalidInputError(
    boundary,
    issues.slice(0, issuesMax).map(({ path, message }) => ({
      path: path.slice(0, issueCharactersMax),
      message: message.slice(0, issueCharactersMax),
    })),
  );
}
