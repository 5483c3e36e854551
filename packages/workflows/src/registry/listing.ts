import { isId } from "@holdpoint/approvals";
import { decode, digest, encode, isSealError, PURPOSES, sign, verify } from "@holdpoint/seal";

import { isWorkflowError, WorkflowError } from "../errors.ts";
import { pageDefault, pageMax } from "../limits.ts";
import type { RunAccess } from "./access.ts";
import { runStatuses } from "./moves.ts";
import type { OpenRun } from "./record-codec.ts";
import { runPlaceOf, type RunFilter, type RunOrder, type RunPlace } from "./store.ts";

export interface RunQuery {
  /** Absent: no restriction. A member that is unknown, null or undefined is an error, never "all". */
  readonly filter?: RunFilter;
  /** Default `newest`. */
  readonly order?: RunOrder;
  /** 1 to 500; default 50. */
  readonly limit?: number;
  /** From the page before, of the same filter and order. */
  readonly cursor?: string;
}

export interface OpenPage {
  readonly items: readonly OpenRun[];
  /** Runs of this page whose records can't be trusted; they hold up none of the others (WF-32). */
  readonly broken: readonly { readonly runId: string; readonly error: WorkflowError }[];
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string;
}

/** One page of runs. @throws WorkflowError `filter-invalid`, `cursor-invalid`, `store-unavailable` */
export async function listRuns(access: RunAccess, query: RunQuery): Promise<OpenPage> {
  const filter = checkedFilter(query.filter ?? {});
  const order = checkedOrder(query.order ?? "newest");
  const limit = checkedLimit(query.limit ?? pageDefault);
  const of = digest(["runs", filter, order]);
  const after = query.cursor === undefined ? {} : { after: openCursor(access, of, query.cursor) };
  const rows = await access.rows(filter, { order, limit, ...after });
  const items: OpenRun[] = [];
  const broken: { runId: string; error: WorkflowError }[] = [];
  for (const row of rows) {
    try {
      items.push(access.codec.open(access.scope, row));
    } catch (error) {
      if (!isWorkflowError(error, "record-tampered")) throw error;
      broken.push({ runId: row.key, error });
    }
  }
  const last = rows.length === limit ? rows.at(-1) : undefined;
  if (last === undefined) return { items, broken };
  return { items, broken, cursor: sealCursor(access, of, runPlaceOf(last, order)) };
}

/** A place as a text that only its own query takes back. */
function sealCursor({ keyring, scope }: RunAccess, of: string, place: RunPlace): string {
  const header = { scope, of };
  return sign(encode(place), { keyring, purpose: PURPOSES.cursor, header }).text;
}

function openCursor({ keyring, scope }: RunAccess, of: string, text: string): RunPlace {
  try {
    const { header, body } = verify(text, { keyring, purpose: PURPOSES.cursor });
    if (header["scope"] === scope && header["of"] === of) return decode(body) as RunPlace;
  } catch (error) {
    if (!isSealError(error)) throw error;
  }
  throw new WorkflowError("cursor-invalid", "the cursor is not one of this query; begin anew");
}

const orders: readonly unknown[] = ["oldest", "newest", "stalest", "latest"];

function checkedOrder(order: RunOrder): RunOrder {
  if (orders.includes(order)) return order;
  throw invalid("one of the orders oldest, newest, stalest, latest");
}

/** @throws WorkflowError `filter-invalid` */
export function checkedLimit(limit: number): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= pageMax) return limit;
  throw invalid(`a page of 1 to ${pageMax}`);
}

const members = new Map<string, (value: unknown) => boolean>([
  ["status", (value) => runStatuses.some((status) => status === value)],
  ["definition", isId],
  ["session", isId],
]);

function checkedFilter(filter: RunFilter): RunFilter {
  if (typeof filter !== "object" || filter === null || Array.isArray(filter)) {
    throw invalid("a filter of named members");
  }
  for (const [name, value] of Object.entries(filter)) {
    const fits = members.get(name);
    if (fits === undefined) throw invalid("status, definition and session as members of a filter");
    if (!fits(value)) throw invalid(`a value of its kind for ${name}`);
  }
  return { ...filter };
}

function invalid(what: string): WorkflowError {
  return new WorkflowError("filter-invalid", `a list of runs takes ${what}`);
}
