import type { Removal } from "@holdpoint/approvals";

import { invalid, isIdentifier } from "./checked-writes.ts";
import { limits } from "./limits.ts";
import type { PreparedStatements } from "./prepared.ts";
import { tableByStatement, type Table } from "./tables.ts";

/** A row of a table that is known. */
interface Place {
  readonly table: Table;
  readonly key: string;
}

/** A removal whose form is known to be right; a copy that its caller can't change any more. */
export interface CheckedRemoval {
  readonly scope: string;
  readonly rows: readonly Place[];
  readonly standing: (Place & { readonly version: number }) | undefined;
}

const tableByName: ReadonlyMap<string, Table> = new Map(
  [...tableByStatement.values()].map((table) => [table.name, table]),
);

/** @throws SqliteStoreError `write-invalid` */
export function checkedRemoval({ scope, rows, standing }: Removal): CheckedRemoval {
  if (rows.length > limits.removedMax) throw invalid(`a removal of ${rows.length} rows`);
  if (!isIdentifier(scope, limits.idCharactersMax)) throw invalid("the scope of a removal");
  return {
    scope,
    rows: rows.map((row) => placeOf(row)),
    standing: standing && { ...placeOf(standing), version: standing.version },
  };
}

function placeOf({ table: name, key }: Removal["rows"][number]): Place {
  const table = tableByName.get(name);
  if (table === undefined) throw invalid("a removal from a table that this store does not know");
  if (!isIdentifier(key, limits.keyCharactersMax)) throw invalid(`the key of a removal in ${name}`);
  return { table, key };
}

/** Takes the rows out, within a transaction; `false`: what has to stand has moved on. */
export function takeOut(
  statements: PreparedStatements,
  { scope, rows, standing }: CheckedRemoval,
): boolean {
  if (standing !== undefined) {
    const { table, key, version } = standing;
    const sql = `SELECT rowVersion FROM ${table.name} WHERE scope = :scope AND key = :key`;
    const stands = statements.row(sql, { scope, key });
    if (stands !== undefined && Number(stands["rowVersion"]) !== version) return false;
  }
  for (const { table, key } of rows) {
    // STORE-08: the name is of this package's own list.
    statements.change(`DELETE FROM ${table.name} WHERE scope = :scope AND key = :key`, {
      scope,
      key,
    });
  }
  return true;
}
