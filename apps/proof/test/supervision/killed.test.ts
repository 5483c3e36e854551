// Real processes over one database; how fast they are is measured by `pnpm proof takeover`, and does not count here.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Pool } from "pg";
import { afterEach, expect, inject, it } from "vitest";

import type {} from "../../../../scripts/postgres/global-setup.ts";
import { killOneOf } from "../../src/supervision/killed.ts";

// A busy machine may keep an owner that is well waiting for seconds.
const term = { leaseMs: 4_000, pollMs: 100 };
const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-killed-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it("WF-30 R070 finishes 100 running runs of a killed process in three that share its sessions on one Postgres, no journaled call twice", async () => {
  const url = inject("postgresUrl");
  const schema = `killed_${process.pid}`;
  const pool = new Pool({ connectionString: url, max: 1 });
  cleanups.push(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await pool.end();
  });
  const killed = await killOneOf({
    place: { kind: "postgres", url, schema },
    folder: emptyFolder(),
    sessions: 10,
    runsOfSession: 10,
    others: 3,
    ...term,
  });
  expect(killed.faults).toEqual([]);
  expect(killed.runs).toBe(100);
  expect(killed.madeAgain).toBeGreaterThanOrEqual(100); // each run had one call under way
});

it("WF-30 R070 finishes them in the one that is left on one SQLite file, no journaled call twice", async () => {
  const folder = emptyFolder();
  const killed = await killOneOf({
    place: { kind: "sqlite", file: join(folder, "desk.db") },
    folder,
    sessions: 1,
    runsOfSession: 100,
    others: 1,
    ...term,
  });
  expect(killed.faults).toEqual([]);
  expect(killed.runs).toBe(100);
  expect(killed.madeAgain).toBeGreaterThanOrEqual(100);
});
