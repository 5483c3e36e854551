import { readFileSync } from "node:fs";

import { z } from "zod";

import { DeskError } from "./failure.ts";

/** A line that could not be taken, by its number in the file. */
export interface BadLine {
  readonly file: string;
  readonly line: number;
  readonly why: string;
}

/** What a file of JSON Lines held. */
export interface ReadLines<T> {
  readonly good: readonly T[];
  readonly bad: readonly BadLine[];
}

/** Longer than any request could be; a file without line breaks would otherwise be one value. */
const lineBytesMax = 64 * 1024;

/**
 * Reads a file line by line. A line that is no JSON, or not of the schema, or that `refuse` has something against, is kept
 * with its number and the rest goes on. Empty lines are skipped.
 *
 * @throws DeskError where the file can't be read at all
 */
export function readLines<T>(
  file: string,
  schema: z.ZodType<T>,
  refuse: (value: T) => string | undefined,
): ReadLines<T> {
  const good: T[] = [];
  const bad: BadLine[] = [];
  for (const [index, bytes] of linesOf(file).entries()) {
    if (bytes.length === 0) continue;
    const read = readLine(bytes, schema);
    const why = read.ok ? refuse(read.value) : read.why;
    if (why !== undefined) bad.push({ file, line: index + 1, why });
    else if (read.ok) good.push(read.value);
  }
  return { good, bad };
}

type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: string };

function readLine<T>(bytes: Buffer, schema: z.ZodType<T>): Read<T> {
  if (bytes.length > lineBytesMax) {
    return { ok: false, why: `it is longer than ${lineBytesMax} bytes` };
  }
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch (error) {
    const what = error instanceof SyntaxError ? "JSON" : "UTF-8";
    return { ok: false, why: `it is not ${what}` };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const [issue] = parsed.error.issues;
  const path = z.core.toDotPath(issue?.path ?? []);
  return { ok: false, why: `${path === "" ? "" : `${path}: `}${issue?.message ?? "it is wrong"}` };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function linesOf(file: string): Buffer[] {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw new DeskError("file-unreadable", `the file ${file} can't be read`, cause);
  }
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(10, start);
    const end = found === -1 ? bytes.length : found;
    lines.push(bytes.subarray(start, bytes[end - 1] === 13 ? end - 1 : end));
    start = end + 1;
  }
  return lines;
}
