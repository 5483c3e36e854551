/**
 * The schema, as the list of steps that make it. Append-only: a released step never changes, and the manifest in
 * `schema-manifest.json` is compared with this list by a test. Names are found in the one schema that a step runs in.
 *
 * 1  approvals, their keys and audit trail with its numbering; run logs; runs and their start keys; leases.
 * 2  snapshots of runs.
 * 3  what is to be told of runs.
 * 4  when a run is to be looked at though nobody says anything. Waiting runs of before don't say so: each is looked at once.
 *
 * Older programs refuse a newer schema (`schema-newer`); newer programs bring an older one up at opening.
 */

/** Marks a schema of this package, in the one row of its `schema_version`. */
export const owner = "@holdpoint/postgres";

/** Past every expiry: how a row without one sorts. It equals `noExpiry` of the approvals' port. */
export const noExpiry: number = Number.MAX_SAFE_INTEGER;

/** How much of a name an index holds: an entry of more than 2,704 bytes is refused by Postgres. */
export const indexedCharacters = 64;

/**
 * Texts that are compared or sorted have the collation "C": ids sort by their bytes in every store, whatever the database's own.
 *
 * Indexes of `approvals` and `runs` end in what lists filter by, so that a row that does not match costs an index entry, not
 * a look at the row. Those that order begin with scope and state: decided rows are nowhere near a page of pending ones.
 *
 * `approval_feeds` numbers the audit entries of a scope. Its row is locked until the commit that took a number stands, so
 * numbers become visible in their order: a sequence gives them out before, and a reader could pass one by.
 */
const first = `
CREATE TABLE schema_version (
  owner text NOT NULL PRIMARY KEY,
  version integer NOT NULL
);
CREATE TABLE approvals (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  row_version bigint NOT NULL,
  attempt text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'decided', 'consumed')),
  tool text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  request_key text COLLATE "C" NOT NULL,
  requested_at bigint NOT NULL,
  expires_at bigint,
  expiry_place bigint NOT NULL GENERATED ALWAYS AS (coalesce(expires_at, 9007199254740991)) STORED,
  sealed text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, key)
);
CREATE INDEX approvals_by_age ON approvals
  (scope, state, requested_at, key, left(tool, 64), run_id, expiry_place);
CREATE INDEX approvals_by_expiry ON approvals
  (scope, state, expiry_place, key, left(tool, 64), run_id, requested_at);
CREATE INDEX approvals_by_run ON approvals (scope, run_id, state);
CREATE TABLE approval_keys (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  row_version bigint NOT NULL,
  attempt text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  asked bigint NOT NULL,
  PRIMARY KEY (scope, key)
);
CREATE TABLE approval_audit (
  position bigint NOT NULL,
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  row_version bigint NOT NULL,
  attempt text COLLATE "C" NOT NULL,
  sealed text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, key)
);
CREATE UNIQUE INDEX approval_audit_by_position ON approval_audit (scope, position);
CREATE TABLE approval_feeds (
  scope text COLLATE "C" NOT NULL PRIMARY KEY,
  last_position bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE log (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL CHECK (key = run || '/' || lpad(revision::text, 12, '0')),
  row_version bigint NOT NULL,
  attempt text COLLATE "C" NOT NULL,
  run text COLLATE "C" NOT NULL,
  revision bigint NOT NULL CHECK (revision > 0),
  text text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, key)
);
CREATE TABLE runs (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  row_version bigint NOT NULL,
  attempt text COLLATE "C" NOT NULL,
  definition text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (
    status IN ('pending', 'running', 'interrupted', 'completed', 'failed', 'cancelled')
  ),
  session text COLLATE "C",
  start_key text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  sealed text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, key)
);
CREATE INDEX runs_by_age ON runs
  (scope, status, created_at, key, left(definition, 64), left(session, 64));
CREATE INDEX runs_by_move ON runs
  (scope, status, updated_at, key, left(definition, 64), left(session, 64));
CREATE TABLE run_keys (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  row_version bigint NOT NULL,
  attempt text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, key)
);
CREATE TABLE leases (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  row_version bigint NOT NULL,
  attempt text COLLATE "C" NOT NULL,
  epoch bigint NOT NULL CHECK (epoch > 0),
  owner text COLLATE "C",
  until bigint NOT NULL,
  PRIMARY KEY (scope, key)
);
`;

const second = `
CREATE TABLE snapshots (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  row_version bigint NOT NULL,
  attempt text COLLATE "C" NOT NULL,
  revision bigint NOT NULL CHECK (revision > 0),
  text text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, key)
);
`;

/** What was handed over leaves the index: looking for what is due costs what is due. */
const third = `
CREATE TABLE outbox (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  row_version bigint NOT NULL,
  attempt text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'done')),
  due_at bigint NOT NULL,
  tries bigint NOT NULL,
  sealed text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, key)
);
CREATE INDEX outbox_due ON outbox (scope, due_at, key) WHERE state = 'waiting';
`;

/** What never is due by itself is not in the index: looking costs what is due, whatever waits. */
const fourth = `
ALTER TABLE runs ADD COLUMN due_at bigint;
UPDATE runs SET due_at = 0 WHERE status = 'interrupted';
CREATE INDEX runs_due ON runs (scope, left(session, 64), due_at, key) WHERE due_at IS NOT NULL;
`;

/** SQL that brings a schema from version n to n + 1, by n. */
export const migrations: readonly string[] = [first, second, third, fourth];

/** The version of the schema that this release reads and writes. */
export const schemaVersion: number = migrations.length;
