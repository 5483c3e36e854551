/**
 * Approvals in memory, on a home that other ports may share.
 *
 * M1 Rows are the home's; indexes and the feed of changes follow its commits, so they are never ahead or behind.
 * M2 Listing reads one index of the state asked for: decided records cost a page of pending ones nothing (APR-23).
 */

import type { Row } from "./commit.ts";
import { memoryHome, type AppliedWrite, type DroppedRow, type MemoryHome } from "./memory-home.ts";
import { SortedPlaces } from "./sorted-places.ts";
import {
  auditKey,
  placeOf,
  type ApprovalFilter,
  type ApprovalOrder,
  type ApprovalPage,
  type ApprovalState,
  type ApprovalStore,
  type StoredChange,
} from "./store.ts";

/** A store for tests, and for programs whose approvals may end with them. */
export function memoryApprovalStore(home: MemoryHome = memoryHome()): ApprovalStore {
  const index = indexOf(home.home);
  return {
    home: home.home,
    durable: false,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    get: async (scope, id) => home.row("approvals", scope, id),
    find: async (scope, requestKey) => home.row("approvalKeys", scope, requestKey),
    list: async (scope, filter, page) => index.list(scope, filter, page),
    history: async (scope, id, after, limit) =>
      home.rows("approvalAudit", scope, {
        prefix: `${id}/`,
        after: auditKey(id, after),
        limit,
      }),
    changes: async (scope, after, limit) => index.changesPast(scope, after).slice(0, limit),
    lastChange: async (scope) => index.lastChange(scope),
    wait: (scope, after, signal) => index.wait(scope, after, signal),
  };
}

// One index a home: stores on the same home count the same changes.
const indexes = new WeakMap<MemoryHome, ApprovalIndex>();

function indexOf(home: MemoryHome): ApprovalIndex {
  let index = indexes.get(home);
  if (index === undefined) indexes.set(home, (index = new ApprovalIndex(home)));
  return index;
}

const states: readonly ApprovalState[] = ["pending", "decided", "consumed"];
const sorts = ["oldest", "expiring"] as const;

class ApprovalIndex {
  readonly #home: MemoryHome;
  /** By scope, state and sort. */
  readonly #places = new Map<string, SortedPlaces>();
  readonly #changes = new Map<string, StoredChange[]>();
  /** Positions given so far, by scope: none is given twice, also where its entry was taken out. */
  readonly #positions = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(home: MemoryHome) {
    this.#home = home;
    for (const scope of home.scopes("approvals")) {
      for (const row of home.rows("approvals", scope)) this.#place(scope, row, undefined);
    }
    for (const scope of home.scopes("approvalAudit")) {
      for (const row of home.rows("approvalAudit", scope)) this.#changed(scope, row);
    }
    home.watch(
      (applied) => this.#follow(applied), // M1
      (dropped) => this.#forget(dropped),
    );
  }

  #forget({ table, scope, row }: DroppedRow): void {
    if (table === "approvals") {
      for (const sort of sorts)
        this.#placesOf(scope, String(row.values["state"]), sort).remove(placeOf(row, sort));
    }
    if (table !== "approvalAudit") return;
    const changes = this.#changesOf(scope);
    const at = changes.findIndex((change) => change.row.key === row.key);
    changes.splice(at, 1); // M1: it is there
  }

  #follow(applied: readonly AppliedWrite[]): void {
    const changed = new Set<string>();
    for (const { table, scope, row, previous } of applied) {
      if (table === "approvals") this.#place(scope, row, previous);
      if (table !== "approvalAudit") continue;
      this.#changed(scope, row);
      changed.add(scope);
    }
    for (const scope of changed) {
      for (const wake of this.#waiting.get(scope) ?? []) wake();
    }
  }

  #place(scope: string, row: Row, previous: Row | undefined): void {
    for (const sort of sorts) {
      if (previous !== undefined) {
        this.#placesOf(scope, String(previous.values["state"]), sort).remove(
          placeOf(previous, sort),
        );
      }
      this.#placesOf(scope, String(row.values["state"]), sort).add(placeOf(row, sort));
    }
  }

  #changed(scope: string, row: Row): void {
    const position = (this.#positions.get(scope) ?? 0) + 1;
    this.#positions.set(scope, position);
    this.#changesOf(scope).push({ position, row });
  }

  lastChange(scope: string): number {
    return this.#changesOf(scope).at(-1)?.position ?? 0;
  }

  changesPast(scope: string, after: number): readonly StoredChange[] {
    const changes = this.#changesOf(scope);
    // Of an entry that was taken out the place is not known any more, and it is never further on than its position.
    let at = Math.min(after, changes.length);
    while (at > 0 && changes[at - 1]!.position > after) at -= 1;
    return changes.slice(at);
  }

  #changesOf(scope: string): StoredChange[] {
    let changes = this.#changes.get(scope);
    if (changes === undefined) this.#changes.set(scope, (changes = []));
    return changes;
  }

  #placesOf(scope: string, state: string, sort: (typeof sorts)[number]): SortedPlaces {
    const name = `${scope} ${state} ${sort}`;
    let places = this.#places.get(name);
    if (places === undefined) this.#places.set(name, (places = new SortedPlaces()));
    return places;
  }

  list(scope: string, filter: ApprovalFilter, page: ApprovalPage): readonly Row[] {
    const found: Row[] = [];
    const wanted = filter.state === undefined ? states : [filter.state]; // M2
    for (const row of merged(
      wanted.map((state) => this.#read(scope, state, page)),
      page.order,
    )) {
      if (found.length === page.limit) break;
      if (matches(row, filter)) found.push(row);
    }
    return found;
  }

  *#read(scope: string, state: ApprovalState, { order, after }: ApprovalPage): Generator<Row> {
    const sort = order === "expiring" ? "expiring" : "oldest";
    const places = this.#placesOf(scope, state, sort);
    for (const { id } of order === "newest" ? places.before(after) : places.after(after)) {
      yield this.#home.row("approvals", scope, id)!;
    }
  }

  wait(scope: string, after: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.lastChange(scope) > after) return Promise.resolve();
    let waiting = this.#waiting.get(scope);
    if (waiting === undefined) this.#waiting.set(scope, (waiting = new Set()));
    return new Promise((resolve) => {
      const wake = (): void => {
        waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }
}

/** Rows of several ordered reads, as one ordered read. */
function* merged(reads: readonly Generator<Row>[], order: ApprovalOrder): Generator<Row> {
  const heads = reads.map((read) => read.next());
  for (;;) {
    let first = -1;
    for (const [at, head] of heads.entries()) {
      if (head.done === true) continue;
      const best = heads[first]?.value;
      if (best === undefined || precedes(head.value, best, order)) first = at;
    }
    const head = heads[first];
    if (head === undefined || head.done === true) return;
    heads[first] = reads[first]!.next();
    yield head.value;
  }
}

function precedes(a: Row, b: Row, order: ApprovalOrder): boolean {
  const [left, right] = [placeOf(a, order), placeOf(b, order)];
  const ascending = left.value === right.value ? left.id < right.id : left.value < right.value;
  return order === "newest" ? !ascending : ascending;
}

function matches({ values }: Row, filter: ApprovalFilter): boolean {
  const { tool, runId, requestedBefore, expiresBefore } = filter;
  if (tool !== undefined && values["tool"] !== tool) return false;
  if (runId !== undefined && values["runId"] !== runId) return false;
  if (requestedBefore !== undefined && Number(values["requestedAt"]) >= requestedBefore)
    return false;
  if (expiresBefore === undefined) return true;
  return typeof values["expiresAt"] === "number" && values["expiresAt"] < expiresBefore;
}
