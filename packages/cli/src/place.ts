import { existsSync } from "node:fs";
import { resolve } from "node:path";

import type { RowRemover } from "@holdpoint/approvals";
import type { OutboxStore, SupervisorStore } from "@holdpoint/workflows";

import { CliError } from "./errors.ts";

/** An open store. */
export interface Place {
  readonly store: SupervisorStore & { readonly outbox: OutboxStore };
  readonly removal: RowRemover;
  close(): Promise<void>;
}

const serverUrl = /^postgres(?:ql)?:\/\//;

/** A store as it may be shown: without the password of a URL. */
function shownPlace(where: string): string {
  return serverUrl.test(where) ? where.replace(/\/\/[^@/]*@/, "//…@") : where;
}

/**
 * Opens what `where` names. A file that is not there is not made: who mistypes a path would else be shown an empty store.
 * @throws CliError `store-unusable`
 */
export async function openPlace(
  folder: string,
  where: string,
  schema: string | undefined,
): Promise<Place> {
  try {
    return serverUrl.test(where) ? await onServer(where, schema) : await onFile(resolve(folder, where)); // prettier-ignore
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    const said = cause instanceof Error ? cause.message : String(cause);
    throw unusable(where, said, cause);
  }
}

async function onFile(path: string): Promise<Place> {
  if (!existsSync(path)) throw unusable(path, "there is no such file");
  const { openSqlite } = await import("@holdpoint/sqlite");
  const store = openSqlite(path);
  return { store, removal: store.removal, close: async () => store.close() };
}

async function onServer(url: string, schema: string | undefined): Promise<Place> {
  const { openPostgres } = await import("@holdpoint/postgres");
  const store = await openPostgres(url, schema === undefined ? {} : { schema });
  return { store, removal: store.removal, close: () => store.close() };
}

function unusable(where: string, why: string, cause?: unknown): CliError {
  const shown = shownPlace(where);
  return new CliError("store-unusable", `the store ${shown} can't be opened: ${why}`, { store: shown }, cause); // prettier-ignore
}
