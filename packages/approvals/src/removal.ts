/**
 * Taking rows out: what no commit does. Only what has ended and is old is ever taken out, by whoever keeps house
 * (`Retention` of the workflows).
 *
 * D1 All of a list or none of it, in one transaction, and only where `standing` says so in that very transaction.
 * D2 It may be repeated: a row that is gone is no matter, and so is one of `standing` that went with it.
 */

import { ApprovalError } from "./errors.ts";
import { isId, isKey, limits } from "./limits.ts";
import type { MemoryHome } from "./memory-home.ts";

export interface RowName {
  /** As in the first part of a write's statement: `approvals`, `log` … */
  readonly table: string;
  readonly key: string;
}

/** Rows of one scope that go. */
export interface Removal {
  readonly scope: string;
  /** At most 1,000. */
  readonly rows: readonly RowName[];
  /** A row that has to stand at this version still, or be gone. */
  readonly standing?: RowName & { readonly version: number };
}

/** The part of a store that takes rows out. */
export interface RowRemover {
  /** The database that the rows are in; as a `Committer`'s. */
  readonly home: object;
  /**
   * Takes rows out. `false`: `standing` has moved on, and nothing was changed.
   * @throws `store-unavailable`: all or nothing was done, and it may be asked again; `write-invalid`
   */
  remove(removal: Removal): Promise<boolean>;
}

/** Refuses what no store could have such rows for. @throws ApprovalError `write-invalid` */
function assertRemoval({ scope, rows, standing }: Removal): void {
  const named = standing === undefined ? rows : [...rows, standing];
  const isRight =
    rows.length <= limits.removedMax && isId(scope) && named.every(({ key }) => isKey(key));
  if (!isRight) throw new ApprovalError("write-invalid", "a removal that stores do not do");
}

/** Takes rows out of a home in memory. */
export function memoryRemover(home: MemoryHome): RowRemover {
  return {
    home: home.home,
    async remove(removal) {
      assertRemoval(removal);
      const { scope, rows, standing } = removal;
      const stands = standing && home.row(standing.table, scope, standing.key);
      if (stands !== undefined && stands.version !== standing?.version) return false;
      for (const { table, key } of rows) home.drop(table, scope, key);
      return true;
    },
  };
}
