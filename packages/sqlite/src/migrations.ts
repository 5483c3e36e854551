/**
 * The schema, as the list of steps that make it. Append-only: a released step never changes, and the manifest in
 * `schema-manifest.json` is compared with this list by a test.
 *
 * 1  approvals, their keys and audit trail; run logs; runs and their start keys; epochs of leases.
 * 2  leases as rows, which a port takes and gives. Nothing took any before.
 * 3  snapshots of runs.
 * 4  what is to be told of runs.
 * 5  when a run is to be looked at though nobody says anything. Waiting runs of before don't say so: each is looked at once.
 *
 * Older programs refuse a file of a newer version (`schema-newer`); newer programs bring an older file up at opening.
 */

/** "Hold" in ASCII: marks a file of this package. */
export const applicationId = 0x486f6c64;

/** Past every expiry: how a row without one sorts. It equals `noExpiry` of the approvals' port. */
export const noExpiry: number = Number.MAX_SAFE_INTEGER;

/**
 * Indexes of `approvals` and `runs` end in the columns that lists filter by, so that a row that does not match costs an index entry,
 * not a look at its sealed text. Those that order begin with
 * scope and state: decided rows are nowhere near a page of pending ones.
 */
const first = `
CREATE TABLE approvals (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  rowVersion INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'decided', 'consumed')),
  tool TEXT NOT NULL,
  runId TEXT NOT NULL,
  requestKey TEXT NOT NULL,
  requestedAt INTEGER NOT NULL,
  expiresAt INTEGER,
  expiryPlace INTEGER GENERATED ALWAYS AS (coalesce(expiresAt, 9007199254740991)) VIRTUAL,
  sealed TEXT NOT NULL,
  UNIQUE (scope, key)
) STRICT;
CREATE INDEX approvalsByAge ON approvals (scope, state, requestedAt, key, tool, runId, expiryPlace);
CREATE INDEX approvalsByExpiry ON approvals (scope, state, expiryPlace, key, tool, runId, requestedAt);
CREATE INDEX approvalsByRun ON approvals (scope, runId, state);
CREATE TABLE approvalKeys (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  rowVersion INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  id TEXT NOT NULL,
  asked INTEGER NOT NULL,
  UNIQUE (scope, key)
) STRICT;
CREATE TABLE approvalAudit (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  rowVersion INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  sealed TEXT NOT NULL,
  UNIQUE (scope, key)
) STRICT;
CREATE INDEX approvalAuditByScope ON approvalAudit (scope);
CREATE TABLE log (
  scope TEXT NOT NULL,
  key TEXT NOT NULL CHECK (key = run || '/' || printf('%012d', revision)),
  rowVersion INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  run TEXT NOT NULL,
  revision INTEGER NOT NULL CHECK (revision > 0),
  text TEXT NOT NULL,
  UNIQUE (scope, key)
) STRICT;
CREATE TABLE runs (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  rowVersion INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  definition TEXT NOT NULL,
  version TEXT NOT NULL,
  status TEXT NOT NULL CHECK (
    status IN ('pending', 'running', 'interrupted', 'completed', 'failed', 'cancelled')
  ),
  session TEXT,
  startKey TEXT,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  sealed TEXT NOT NULL,
  UNIQUE (scope, key)
) STRICT;
CREATE INDEX runsByAge ON runs (scope, status, createdAt, key, definition, session);
CREATE INDEX runsByMove ON runs (scope, status, updatedAt, key, definition, session);
CREATE TABLE runKeys (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  rowVersion INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  runId TEXT NOT NULL,
  UNIQUE (scope, key)
) STRICT;
CREATE TABLE leases (
  name TEXT NOT NULL PRIMARY KEY,
  epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

const second = `
DROP TABLE leases;
CREATE TABLE leases (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  rowVersion INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  epoch INTEGER NOT NULL CHECK (epoch > 0),
  owner TEXT,
  until INTEGER NOT NULL,
  UNIQUE (scope, key)
) STRICT;
`;

const third = `
CREATE TABLE snapshots (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  rowVersion INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  revision INTEGER NOT NULL CHECK (revision > 0),
  text TEXT NOT NULL,
  UNIQUE (scope, key)
) STRICT;
`;

/** What was handed over leaves the index: looking for what is due costs what is due. */
const fourth = `
CREATE TABLE outbox (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  rowVersion INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'done')),
  dueAt INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  sealed TEXT NOT NULL,
  UNIQUE (scope, key)
) STRICT;
CREATE INDEX outboxDue ON outbox (scope, dueAt, key) WHERE state = 'waiting';
`;

/** What never is due by itself is not in the index: looking costs what is due, whatever waits. */
const fifth = `
ALTER TABLE runs ADD COLUMN dueAt INTEGER;
UPDATE runs SET dueAt = 0 WHERE status = 'interrupted';
CREATE INDEX runsDue ON runs (scope, session, dueAt, key) WHERE dueAt IS NOT NULL;
`;

/** SQL that brings a file from version n to n + 1, by n. */
export const migrations: readonly string[] = [first, second, third, fourth, fifth];

/** The version of the schema that this release reads and writes. */
export const schemaVersion: number = migrations.length;
