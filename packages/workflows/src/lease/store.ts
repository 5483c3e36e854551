/**
 * Who works on a session: one row a lease, written through `commit` by the writes made here (WF-20).
 *
 * E1 Each acquisition has an epoch of its own, one more than the one before; renewing and releasing keep it. So an owner that
 *    was paused and woken holds an epoch that no newer one has, and every write under it is refused inside its statement
 *    (STORE-06), heartbeats and releases among them.
 * E2 A lease is taken only once it has lapsed by the store's clock, and renewed only before that: both checked inside the
 *    statement (STORE-15).
 * E3 When it lapses is reckoned from a time that the store told before the write: whatever the write waits for makes a lease
 *    shorter, never longer.
 *
 * Its rows are not sealed. Whoever can write them can keep everybody from working; acting on what was not approved takes keys.
 */
import {
  putLease,
  versionOf,
  type Committer,
  type Fence,
  type LeaseColumns,
  type Row,
  type Write,
} from "@holdpoint/approvals";

/** Where leases are kept. Every method throws `store-unavailable` and nothing else. */
export interface LeaseStore extends Committer {
  /** The lease's row. */
  get(scope: string, name: string): Promise<Row | undefined>;
  /** Rows of a scope by name in byte order, those past `page.after`. */
  list(scope: string, page: LeasePage): Promise<readonly Row[]>;
}

export interface LeasePage {
  /** The name of the last row of the page before. */
  readonly after?: string;
  readonly limit: number;
}

/** A lease as it stands; one that nobody ever took has epoch 0 and version 0. */
export interface LeaseState extends LeaseColumns {
  readonly scope: string;
  readonly name: string;
  /** Of the row: what the next write has to expect. */
  readonly version: number;
}

/** A lease of its row. */
export function leaseOf(scope: string, name: string, row: Row | undefined): LeaseState {
  const { epoch = 0, owner = null, until = 0 } = row?.values ?? {};
  return {
    scope,
    name,
    version: versionOf(row),
    epoch: Number(epoch),
    owner: owner === null ? null : String(owner),
    until: Number(until),
  };
}

/** The ownership that goes with every write of its owner. */
export function fenceOf({ name, epoch }: LeaseState): Fence {
  return { name, epoch };
}

/** Takes a lease that has lapsed. `late`: the new one has lapsed already; `early`: the old one has not (E2). */
export function acquireWrite(stands: LeaseState, owner: string, until: number): Write {
  const columns = { epoch: stands.epoch + 1, owner, until }; // E1
  return { ...putWrite(stands, columns), from: stands.until, before: until };
}

/** Lengthens a lease that has not lapsed (E2). */
export function renewWrite(stands: LeaseState, until: number): Write {
  const { epoch, owner } = stands;
  const write = putWrite(stands, { epoch, owner, until });
  return { ...write, before: stands.until, fence: fenceOf(stands) };
}

/** Gives a lease back: the next to ask takes it at once. */
export function releaseWrite(stands: LeaseState): Write {
  const write = putWrite(stands, { epoch: stands.epoch, owner: null, until: 0 });
  return { ...write, fence: fenceOf(stands) };
}

function putWrite({ scope, name, version }: LeaseState, columns: LeaseColumns): Write {
  return { statement: putLease, scope, key: name, expect: version, values: { ...columns } };
}
