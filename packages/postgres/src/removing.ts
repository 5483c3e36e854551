import type { Removal } from "@holdpoint/approvals";

import { invalid, isIdentifier } from "./checked-writes.ts";
import { limits } from "./limits.ts";
import type { Session } from "./sessions.ts";
import type { Statements } from "./statements.ts";
import { integerOf, sqlName, tableByStatement, type RawRow, type Table } from "./tables.ts";

/** A removal whose form is known to be right; a copy that its caller can't change any more. */
export interface CheckedRemoval {
  readonly scope: string;
  /** Keys by table, the tables in the order in which they were named first. */
  readonly keys: ReadonlyMap<Table, readonly string[]>;
  readonly standing:
    | { readonly table: Table; readonly key: string; readonly version: number }
    | undefined;
}

const tableByName: ReadonlyMap<string, Table> = new Map(
  [...tableByStatement.values()].map((table) => [table.name, table]),
);

/** @throws PostgresStoreError `write-invalid` */
export function checkedRemoval({ scope, rows, standing }: Removal): CheckedRemoval {
  if (rows.length > limits.removedMax) throw invalid(`a removal of ${rows.length} rows`);
  if (!isIdentifier(scope, limits.idCharactersMax)) throw invalid("the scope of a removal");
  const keys = new Map<Table, string[]>();
  for (const row of rows) {
    const table = tableOf(row);
    const known = keys.get(table);
    if (known === undefined) keys.set(table, [row.key]);
    else known.push(row.key);
  }
  return {
    scope,
    keys,
    standing: standing && {
      table: tableOf(standing),
      key: standing.key,
      version: standing.version,
    },
  };
}

function tableOf({ table: name, key }: Removal["rows"][number]): Table {
  const table = tableByName.get(name);
  if (table === undefined) throw invalid("a removal from a table that this store does not know");
  if (!isIdentifier(key, limits.keyCharactersMax)) throw invalid(`the key of a removal in ${name}`);
  return table;
}

/** Takes the rows out, within a transaction; `false`: what has to stand has moved on. */
export async function takeOut(
  session: Session,
  statements: Statements,
  { scope, keys, standing }: CheckedRemoval,
): Promise<boolean> {
  if (standing !== undefined) {
    const { table, key, version } = standing;
    // Locked: nobody moves it before this transaction ends.
    const sql = `SELECT row_version AS "rowVersion" FROM {${sqlName(table.name)}}
      WHERE scope = :scope AND key = :key FOR UPDATE`;
    const { rows } = await session.run(statements.query(sql, { scope, key }));
    const stands = rows[0] as RawRow | undefined;
    if (stands !== undefined && integerOf(stands["rowVersion"]) !== version) return false;
  }
  for (const [table, of] of keys) {
    const sql = `DELETE FROM {${sqlName(table.name)}} WHERE scope = :scope AND key = ANY(:keys)`;
    await session.run(statements.query(sql, { scope, keys: of }));
  }
  return true;
}
