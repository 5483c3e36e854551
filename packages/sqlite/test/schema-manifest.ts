import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

import { applicationId, migrations, schemaVersion } from "../src/migrations.ts";
import { openSqlite } from "../src/index.ts";

/** What `schema-manifest.json` has to say: the steps, and what all of them make. */
export function schemaManifest() {
  const handle = new DatabaseSync(":memory:");
  openSqlite(handle);
  const objects = handle
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
    .all();
  handle.close();
  return {
    applicationId,
    version: schemaVersion,
    migrations: migrations.map((sql) => createHash("sha256").update(sql).digest("hex")),
    objects: objects.map(({ type, name, sql }) => ({ type, name, sql })),
  };
}
