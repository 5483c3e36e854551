import { DatabaseSync } from "node:sqlite";

import { isSqliteError, openSqlite } from "@holdpoint/sqlite";
import { sqliteApprovalStore } from "@holdpoint/sqlite/approvals";
import { sqliteRunLog } from "@holdpoint/sqlite/log";

const handle = new DatabaseSync("held.db");
const approvals = sqliteApprovalStore(handle);
const log = sqliteRunLog(handle);
console.log(approvals.home === log.home); // one commit for both
handle.close();

try {
  openSqlite("no-such-folder/desk.db");
} catch (error) {
  console.log(isSqliteError(error) && error.code);
}
