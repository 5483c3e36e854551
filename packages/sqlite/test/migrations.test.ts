import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";

import { expect, it } from "vitest";

import { openSqlite } from "../src/index.ts";
import { schemaVersion } from "../src/migrations.ts";
import { place } from "./place.ts";
import { move, put, scope } from "./record-writes.ts";
import { schemaManifest } from "./schema-manifest.ts";

const manifestPath = join(import.meta.dirname, "../schema-manifest.json");

it("STORE-01 has the schema of the manifest, and none of its steps was changed", () => {
  const manifest: unknown = JSON.parse(readFileSync(manifestPath, "utf8"));
  expect(schemaManifest()).toEqual(manifest);
});

it("STORE-01 finds the same schema at each later opening, and its rows", async () => {
  const path = place()();
  for (let round = 1; round <= 3; round += 1) {
    const store = openSqlite(path);
    expect((await store.approvals.get(scope, "a"))?.version).toBe(
      round === 1 ? undefined : round - 1,
    );
    expect((await store.commit(`c-${round}`, [put("a", round - 1)])).status).toBe("done");
    const handle = new DatabaseSync(path);
    expect(handle.prepare("PRAGMA user_version").get()).toEqual({ user_version: schemaVersion });
    handle.close();
    store.close();
  }
});

it("STORE-01 R087 P17 is refused by an older program, which names both versions and changes nothing", () => {
  const path = place()();
  openSqlite(path).close();
  const handle = new DatabaseSync(path);
  handle.exec(`PRAGMA user_version = ${schemaVersion + 1}; PRAGMA wal_checkpoint(TRUNCATE)`);
  handle.close();
  const bytes = readFileSync(path);
  expect(() => openSqlite(path)).toThrow(
    expect.objectContaining({
      code: "schema-newer",
      found: schemaVersion + 1,
      known: schemaVersion,
      path,
    }),
  );
  expect(readFileSync(path)).toEqual(bytes);
});

it("STORE-01 WF-28 P17 makes each run that waited in an older file due, and no other", async () => {
  const path = place()();
  const older = openSqlite(path);
  const statuses = ["pending", "running", "interrupted", "completed"];
  await older.commit(
    "fill",
    statuses.map((status) => ({
      ...move(status, 0),
      values: { ...move(status, 0).values, status },
    })),
  );
  older.close();
  const handle = new DatabaseSync(path);
  handle.exec("DROP INDEX runsDue; ALTER TABLE runs DROP COLUMN dueAt; PRAGMA user_version = 4");
  handle.close();
  const store = openSqlite(path);
  const rows = await Promise.all(statuses.map((status) => store.runs.get(scope, status)));
  expect(rows.map((row) => row?.values["dueAt"])).toEqual([null, null, 0, null]);
  expect(rows.map((row) => row?.version)).toEqual([1, 1, 1, 1]);
  store.close();
});

it("STORE-01 leaves a file that a migration failed in as it was", () => {
  const path = place()();
  openSqlite(path).close();
  const handle = new DatabaseSync(path);
  // A file of ours at version 0 that already has a table of the first step.
  handle.exec("PRAGMA user_version = 0; DROP TABLE leases; DROP TABLE log");
  const objects = () => handle.prepare("SELECT count(*) AS n FROM sqlite_schema").get();
  const before = objects();
  expect(() => openSqlite(path)).toThrow(expect.objectContaining({ code: "store-unavailable" }));
  expect(objects()).toEqual(before);
  handle.close();
});

it("STORE-01 R087 is made once by eight processes that open a new file together", async () => {
  const at = place();
  const program = at("open.ts");
  const source = join(import.meta.dirname, "../src/index.ts");
  writeFileSync(
    program,
    `import { openSqlite } from ${JSON.stringify(source)};
     while (Date.now() < Number(process.argv[3]));
     const store = openSqlite(process.argv[2]);
     console.log(await store.log.head("acme", "run"));
     store.close();`,
  );
  const start = String(Date.now() + 700);
  const opened = await Promise.all(
    Array.from({ length: 8 }, () =>
      promisify(execFile)(process.execPath, [
        "--conditions=@holdpoint/source",
        program,
        at("new.db"),
        start,
      ]),
    ),
  );
  expect(opened.map(({ stdout, stderr }) => stdout + stderr)).toEqual(Array(8).fill("0\n"));
});
