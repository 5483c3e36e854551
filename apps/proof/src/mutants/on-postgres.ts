import type { Mutant } from "./mutant.ts";

const writing = "packages/postgres/src/write-sql.ts";

/** The promises of SQLite's that Postgres keeps by statements of its own, and those that many processes need. */
export const onPostgres: readonly Mutant[] = [
  {
    name: "compare-and-set without the version in its WHERE, on Postgres",
    file: writing,
    find: "AND row_version = :expect${at}::bigint\n",
    put: "AND (row_version > 0 OR :expect${at}::bigint = 0)\n",
    project: "postgres",
    tests: "contract",
  },
  {
    name: "a fence that is not in the statement, on Postgres",
    file: writing,
    find: "WHERE epoch > :fencedBelow${at}::bigint)",
    put: "WHERE epoch > :fencedBelow${at}::bigint AND false)",
    project: "postgres",
    tests: "contract",
  },
  {
    name: "a fence's lease that is not locked until the commit stands",
    file: writing,
    find: '? "UPDATE" : "SHARE"',
    put: '? "UPDATE" : "KEY SHARE"',
    project: "postgres",
    tests: "entries-together",
  },
  {
    name: "a time limit that is not in the statement, on Postgres",
    file: writing,
    find: "`{now} < :before${at}::bigint`",
    put: "`{now} > 0 AND :before${at}::bigint > 0`",
    project: "postgres",
    tests: "contract",
  },
  {
    name: "a write that does not wait for the one before it",
    file: writing,
    find: "after === undefined ? [] : [`(SELECT ok FROM ${after})`]",
    put: "after === undefined ? [] : [`(SELECT ok FROM ${after}) IS NOT DISTINCT FROM NULL OR true`]",
    project: "postgres",
    tests: "contract",
  },
  {
    name: "a commit that is told before its sync, on Postgres",
    file: "packages/postgres/src/commit-statement.ts",
    find: "WHEN 'off' THEN 'on'",
    put: "WHEN 'off' THEN 'off'",
    project: "postgres",
    tests: "faults",
  },
  {
    name: "an attempt that does not know its own commit, on Postgres",
    file: "packages/postgres/src/judging.ts",
    find: "if (stands?.attempt !== attemptId) return false;",
    put: "if (stands?.attempt !== `${attemptId} `) return false;",
    project: "postgres",
    tests: "contract",
  },
  {
    name: "a removal of what has moved on, on Postgres",
    file: "packages/postgres/src/removing.ts",
    find: 'integerOf(stands["rowVersion"]) !== version',
    put: 'integerOf(stands["rowVersion"]) < 0',
    project: "postgres",
    tests: "removal",
  },
];
