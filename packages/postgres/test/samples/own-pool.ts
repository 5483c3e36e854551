import { isPostgresError, openPostgres } from "@holdpoint/postgres";
import { postgresApprovalStore } from "@holdpoint/postgres/approvals";
import { postgresRunLog } from "@holdpoint/postgres/log";
import { Pool } from "pg";

const pool = new Pool({ connectionString: process.env["DATABASE_URL"] });
pool.on("error", (error) => console.error(error.message)); // or an idle connection that is lost ends the process
const approvals = await postgresApprovalStore(pool, { schema: "desk" });
const log = await postgresRunLog(pool, { schema: "desk" });
console.log(approvals.home === log.home); // one commit for both

try {
  await openPostgres(pool, { schema: "public" });
} catch (error) {
  console.log(isPostgresError(error) && error.code);
}
await pool.end();
