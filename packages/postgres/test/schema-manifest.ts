import { createHash } from "node:crypto";

import { migrations, owner, schemaVersion } from "../src/migrations.ts";
import { behind, opened, place } from "./place.ts";

/** What `schema-manifest.json` has to say: the steps, and what all of them make. */
export async function schemaManifest() {
  const schema = place();
  await opened(schema);
  const ask = async (sql: string): Promise<readonly unknown[]> => {
    const { rows } = await behind.query<{ line: string }>(sql, [schema]);
    return rows.map(({ line }) => line.replaceAll(`${schema}.`, ""));
  };
  const columns =
    await ask(`SELECT concat_ws(' ', class.relname, attname, format_type(atttypid, atttypmod),
      CASE WHEN attnotnull THEN 'not null' END, 'collate ' || collname,
      'as ' || pg_get_expr(adbin, adrelid)) AS line
    FROM pg_attribute JOIN pg_class AS class ON class.oid = attrelid
      LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      LEFT JOIN pg_collation AS collations ON collations.oid = attcollation
    WHERE relnamespace = to_regnamespace($1) AND relkind = 'r' AND attnum > 0
    ORDER BY class.relname COLLATE "C", attnum`);
  const constraints =
    await ask(`SELECT concat_ws(' ', class.relname, conname, pg_get_constraintdef(con.oid)) AS line
    FROM pg_constraint AS con JOIN pg_class AS class ON class.oid = conrelid
    WHERE relnamespace = to_regnamespace($1) AND contype <> 'n' ORDER BY 1`);
  const indexes = await ask(`SELECT indexdef AS line FROM pg_indexes WHERE schemaname = $1
    ORDER BY indexname COLLATE "C"`);
  return {
    owner,
    version: schemaVersion,
    migrations: migrations.map((sql) => createHash("sha256").update(sql).digest("hex")),
    columns,
    constraints,
    indexes,
  };
}
