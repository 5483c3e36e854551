import { digest } from "@holdpoint/seal";

import { openCursor, sealCursor } from "./cursor.ts";
import { ApprovalError } from "./errors.ts";
import { isName, limits } from "./limits.ts";
import type { RecordAccess } from "./record-access.ts";
import { ApprovalView } from "./record-view.ts";
import { checkedId } from "./request.ts";
import {
  placeOf,
  type ApprovalFilter,
  type ApprovalOrder,
  type ApprovalPage,
  type PagePlace,
} from "./store.ts";

export interface ListQuery {
  /** Absent: no restriction. A member that is unknown, null or undefined is an error, never "all" (APR-05). */
  readonly filter?: ApprovalFilter;
  /** Default `oldest`. */
  readonly order?: ApprovalOrder;
  /** 1 to 500; default 50. */
  readonly limit?: number;
  /** From the page before, of the same scope, filter and order. */
  readonly cursor?: string;
}

export interface ApprovalList {
  readonly items: readonly ApprovalView[];
  /** Records of this page that can't be trusted; they hold up none of the others. */
  readonly broken: readonly { readonly id: string; readonly error: ApprovalError }[];
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string;
}

/** One page of records. @throws ApprovalError `filter-invalid`, `cursor-invalid`, `id-invalid`, `store-unavailable` */
export async function listRecords(
  access: RecordAccess,
  scope: string,
  query: ListQuery,
): Promise<ApprovalList> {
  checkedId(scope, "scope");
  const filter = Object.hasOwn(query, "filter") ? checkedFilter(query.filter) : {};
  const order = checkedOrder(query.order ?? "oldest");
  const limit = checkedLimit(query.limit ?? limits.pageDefault);
  const use = { scope, of: digest(["list", filter, order]) };
  const { keyring } = access;
  const after =
    query.cursor === undefined
      ? {}
      : { after: openCursor(keyring, use, query.cursor) as PagePlace }; // sealed by us, below
  const page: ApprovalPage = { order, limit, ...after };
  const rows = await access.store.list(scope, filter, page);
  const now = await access.store.now();
  const items: ApprovalView[] = [];
  const broken: { id: string; error: ApprovalError }[] = [];
  for (const row of rows) {
    const opened = access.examine(scope, row);
    if ("fault" in opened) broken.push({ id: row.key, error: opened.fault });
    else items.push(new ApprovalView(access, opened, now));
  }
  const last = rows.length === limit ? rows.at(-1) : undefined;
  if (last === undefined) return { items, broken };
  return { items, broken, cursor: sealCursor(keyring, use, placeOf(last, order)) };
}

/** @throws ApprovalError `filter-invalid` */
export function checkedLimit(limit: unknown): number {
  if (Number.isSafeInteger(limit) && Number(limit) >= 1 && Number(limit) <= limits.pageMax) {
    return Number(limit);
  }
  throw invalid(`a page of 1 to ${limits.pageMax}`);
}

const orders: readonly unknown[] = ["oldest", "newest", "expiring"];

function checkedOrder(order: ApprovalOrder): ApprovalOrder {
  if (orders.includes(order)) return order;
  throw invalid("one of the orders oldest, newest, expiring");
}

const states: readonly unknown[] = ["pending", "decided", "consumed"];

const members = new Map<string, (value: unknown) => boolean>([
  ["state", (value) => states.includes(value)],
  ["tool", isName],
  ["runId", isName],
  ["requestedBefore", (value) => Number.isSafeInteger(value)],
  ["expiresBefore", (value) => Number.isSafeInteger(value)],
]);

function checkedFilter(filter: ApprovalFilter | undefined): ApprovalFilter {
  if (typeof filter !== "object" || filter === null || Array.isArray(filter)) {
    throw invalid("a filter of named members");
  }
  for (const [name, value] of Object.entries(filter)) {
    const fits = members.get(name);
    if (fits === undefined) throw invalid(`no member ${name.slice(0, limits.idCharactersMax)}`);
    if (!fits(value)) throw invalid(`a value of its kind for ${name}`);
  }
  return { ...filter };
}

function invalid(what: string): ApprovalError {
  return new ApprovalError("filter-invalid", `a list of approvals takes ${what}`);
}
