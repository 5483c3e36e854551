// A process that resumes a paused run and is killed at the n-th commit that it sends, before or after the server has it.
import { approve, DeferredApproval, unverified } from "@holdpoint/approvals";
import { FlowRunner, replies } from "@holdpoint/flow";

import { openPostgres } from "../src/index.ts";
import { keyring, refundDesk } from "./refund-desk.ts";
import { watchedPool } from "./watched-pool.ts";

const [url = "", schema = "", approvalId = "", number = "0", when = "before"] =
  process.argv.slice(2);
const pool = watchedPool(url);
const store = await openPostgres(pool, { schema });
const { refund } = refundDesk(pool.real, schema);
let commits = 0;
const die = async (at: string): Promise<undefined> => {
  if (at === when && commits === Number(number)) process.kill(process.pid, "SIGKILL");
  return undefined;
};
pool.reset({
  async before({ verb }) {
    if (verb !== "WITH s") return;
    commits += 1;
    await die("before");
  },
  after: ({ verb }) => (verb === "WITH s" ? die("after") : undefined),
});
const approvals = new DeferredApproval(store.approvals, { keyring });
const runner = new FlowRunner({ approvals, log: store.log, keyring });
const yes = replies({ [approvalId]: approve({ by: unverified("dana") }) });
console.log((await runner.resume(refund, "run-1", yes)).status);
await store.close();
await pool.real.end();
