import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, it } from "vitest";

import { schemaVersion } from "../src/migrations.ts";
import { behind, opened, place, url } from "./place.ts";
import { move, put, scope } from "./record-writes.ts";
import { schemaManifest } from "./schema-manifest.ts";

const manifestPath = join(import.meta.dirname, "../schema-manifest.json");

it("STORE-01 has the schema of the manifest, and none of its steps was changed", async () => {
  const manifest: unknown = JSON.parse(readFileSync(manifestPath, "utf8"));
  expect(await schemaManifest()).toEqual(manifest);
});

it("STORE-01 finds the same schema at each later opening, and its rows", async () => {
  const schema = place();
  for (let round = 1; round <= 3; round += 1) {
    const store = await opened(schema);
    expect((await store.approvals.get(scope, "a"))?.version).toBe(
      round === 1 ? undefined : round - 1,
    );
    expect((await store.commit(`c-${round}`, [put("a", round - 1)])).status).toBe("done");
    const { rows } = await behind.query(`SELECT * FROM ${schema}.schema_version`);
    expect(rows).toEqual([{ owner: "@holdpoint/postgres", version: schemaVersion }]);
    await store.close();
  }
});

/** What a schema is made of, and the rows of its mark. */
async function objectsOf(schema: string): Promise<unknown> {
  const { rows } = await behind.query(
    "SELECT oid, relname FROM pg_class WHERE relnamespace = to_regnamespace($1) ORDER BY oid",
    [schema],
  );
  return rows;
}

it("STORE-01 R087 P17 is refused by an older program, which names both versions and changes nothing", async () => {
  const schema = place();
  await opened(schema);
  await behind.query(`UPDATE ${schema}.schema_version SET version = version + 1`);
  const before = await objectsOf(schema);
  await expect(opened(schema)).rejects.toMatchObject({
    code: "schema-newer",
    found: schemaVersion + 1,
    known: schemaVersion,
    schema,
  });
  await expect(opened(schema)).rejects.toThrow(schema);
  expect(await objectsOf(schema)).toEqual(before);
});

it("STORE-01 WF-28 P17 makes each run that waited in an older schema due, and no other", async () => {
  const schema = place();
  const older = await opened(schema);
  const statuses = ["pending", "running", "interrupted", "completed"];
  await older.commit(
    "fill",
    statuses.map((status) => ({
      ...move(status, 0),
      values: { ...move(status, 0).values, status },
    })),
  );
  await behind.query(`ALTER TABLE ${schema}.runs DROP COLUMN due_at`);
  await behind.query(`UPDATE ${schema}.schema_version SET version = 3`);
  const store = await opened(schema);
  const rows = await Promise.all(statuses.map((status) => store.runs.get(scope, status)));
  expect(rows.map((row) => row?.values["dueAt"])).toEqual([null, null, 0, null]);
  expect(rows.map((row) => row?.version)).toEqual([1, 1, 1, 1]);
});

it("STORE-01 leaves a schema that a migration failed in as it was", async () => {
  const schema = place();
  await opened(schema);
  // A schema of ours at version 0 that already has a table of the first step.
  await behind.query(`UPDATE ${schema}.schema_version SET version = 0; DROP TABLE ${schema}.log`);
  const before = await objectsOf(schema);
  await expect(opened(schema)).rejects.toMatchObject({
    code: "store-unavailable",
    schema: undefined,
  });
  expect(await objectsOf(schema)).toEqual(before);
});

it("STORE-01 R087 is made once by eight processes that open a new schema together", async () => {
  const schema = place();
  const program = join(import.meta.dirname, "opener.ts");
  const args = ["--conditions=@holdpoint/source", program, url, schema, `${Date.now() + 1_500}`];
  const opens = await Promise.all(
    Array.from({ length: 8 }, () => promisify(execFile)(process.execPath, args)),
  );
  expect(opens.map(({ stdout, stderr }) => stdout + stderr)).toEqual(Array(8).fill("0\n"));
});

it("STORE-01 is made once by sixteen pools of one process", async () => {
  const schema = place();
  const stores = await Promise.all(Array.from({ length: 16 }, () => opened(schema)));
  expect(await Promise.all(stores.map(({ log }) => log.head(scope, "run")))).toEqual(
    Array(16).fill(0),
  );
});
