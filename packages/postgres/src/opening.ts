/**
 * From a pool and a name to a schema that is known to be ours, up to date, and safe to write.
 *
 * O1 A schema is changed only once it is known to be empty or one of this package (STORE-07).
 * O2 Steps run one after another in one transaction, under a lock that ends with it, and the version is read again inside: of two
 *    processes that open a new schema together one makes it and the other finds it (STORE-01).
 * O3 A schema that is up to date is only read: a role that may not create anything can open it.
 */

import { PostgresStoreError } from "./errors.ts";
import { limits } from "./limits.ts";
import { migrations, owner, schemaVersion } from "./migrations.ts";
import type { PostgresPool } from "./pool.ts";
import { withSession, type Session, type SessionSettings } from "./sessions.ts";
import { integerOf, type RawRow } from "./tables.ts";
import { isTakenBack, unavailable } from "./unavailable.ts";

// No upper case, so that it is the same name with and without quotes; `pg_` is Postgres's own.
const schemaForm = /^(?!pg_)[a-z_][a-z0-9_]*$/;

/** @throws PostgresStoreError `option-invalid` */
export function checkedSchema(name: string): string {
  if (schemaForm.test(name) && name.length <= limits.schemaCharactersMax) return name;
  const form = `lower case letters, digits and _, ${limits.schemaCharactersMax} characters at most`;
  throw new PostgresStoreError("option-invalid", `the name of a schema is ${form}`);
}

/**
 * Makes the schema one that stores can stand on.
 *
 * @throws PostgresStoreError `schema-foreign`, `schema-newer`, `database-encoding`, `store-unavailable`
 */
export async function prepareSchema(
  pool: PostgresPool,
  settings: SessionSettings & { readonly schema: string },
): Promise<void> {
  const { schema } = settings;
  try {
    await withSession(pool, settings, async (session) => {
      const version = await versionOf(session, schema); // O1
      if (version < schemaVersion) await migrate(session, schema);
    });
  } catch (error) {
    throw unavailable(error, `opening the schema ${schema}`);
  }
}

/** The version of the schema: 0 where there is none, or nothing in it. */
async function versionOf(session: Session, schema: string): Promise<number> {
  const text = `SELECT current_setting('server_encoding') AS encoding,
    to_regclass(quote_ident($1) || '.schema_version')::text AS marked,
    (SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident($1))) +
    (SELECT count(*) FROM pg_proc WHERE pronamespace = to_regnamespace(quote_ident($1))) AS objects`;
  const found = (await session.run({ text, values: [schema] })).rows[0] as RawRow | undefined;
  if (found?.["encoding"] !== "UTF8") {
    const message = `the database keeps texts as ${String(found?.["encoding"])}, not as UTF8`;
    throw new PostgresStoreError("database-encoding", message, { schema });
  }
  if (found["marked"] === null) {
    if (integerOf(found["objects"]) === 0) return 0;
    throw foreign(schema);
  }
  const version = await markOf(session, schema);
  if (version > schemaVersion) {
    const message = `the schema ${schema} is of version ${version}, and this release knows ${schemaVersion}`;
    const fields = { schema, found: version, known: schemaVersion };
    throw new PostgresStoreError("schema-newer", message, fields);
  }
  return version;
}

async function markOf(session: Session, schema: string): Promise<number> {
  let rows: readonly unknown[];
  try {
    ({ rows } = await session.run(`SELECT owner, version FROM "${schema}".schema_version`));
  } catch (error) {
    const isOther =
      isTakenBack(error) && /^42(703|809)$/.test(String(Reflect.get(Object(error), "code")));
    throw isOther ? foreign(schema) : error;
  }
  const mark = rows[0] as RawRow | undefined;
  if (rows.length !== 1 || mark?.["owner"] !== owner) throw foreign(schema);
  return integerOf(mark["version"]);
}

// O2
async function migrate(session: Session, schema: string): Promise<void> {
  await session.run(`BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
    SET LOCAL lock_timeout = ${limits.migrateMs};
    SET LOCAL statement_timeout = ${limits.migrateMs};
    SET LOCAL synchronous_commit = 'on'`);
  try {
    const text = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
    await session.run({ text, values: [`${owner} ${schema}`] }, limits.migrateMs);
    const version = await versionOf(session, schema);
    if (version === 0) await session.run(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
    await session.run(`SET LOCAL search_path TO "${schema}"`);
    for (const step of migrations.slice(version)) await session.run(step, limits.migrateMs);
    const mark = `INSERT INTO schema_version (owner, version) VALUES ($1, $2::integer)
      ON CONFLICT (owner) DO UPDATE SET version = excluded.version`;
    await session.run({ text: mark, values: [owner, schemaVersion] });
    await session.run("COMMIT");
  } catch (error) {
    await session.run("ROLLBACK").catch((lost: unknown) => session.break(lost));
    throw error;
  }
}

function foreign(schema: string): PostgresStoreError {
  const message = `the schema ${schema} is another program's`;
  return new PostgresStoreError("schema-foreign", message, { schema });
}
