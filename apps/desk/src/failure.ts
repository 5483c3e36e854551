import { reasonOf } from "./system-error.ts";

/** Why the desk could not do its job; what it prints before it ends with a code other than 0. */
export type DeskErrorCode =
  | "books-differ"
  | "database-foreign"
  | "database-unusable"
  | "file-unreadable"
  | "folder-unusable"
  | "key-invalid"
  | "key-wrong"
  | "set-aside"
  | "store-unusable"
  | "usage"
  | "worker-failed";

export class DeskError extends Error {
  override readonly name = "DeskError";
  readonly code: DeskErrorCode;

  constructor(code: DeskErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** One line for a person: what went wrong, and what lies behind it. */
export function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error instanceof DeskError ? error.cause : undefined;
  return cause instanceof Error ? `${error.message}: ${reasonOf(cause)}` : error.message;
}
