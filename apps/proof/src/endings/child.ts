// A process that begins the errand and ends by itself on the way, as its job says.
import { openSqlite } from "@holdpoint/sqlite";

import { errandOn, type Ending } from "./errand.ts";

const { file, acts, ends } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly file: string;
  readonly acts: string;
  readonly ends: Ending;
};
const { approvals, log } = openSqlite(file);
const { errand, runner } = errandOn({ approvals, log, acts, ends });
await runner.run(errand, { orderId: "A-17" }, { runId: "errand-1" });
