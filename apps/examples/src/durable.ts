import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { approve, DeferredApproval, unverified } from "@holdpoint/approvals";
import { FlowRunner, replies } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { openSqlite } from "@holdpoint/sqlite";

import { refund } from "./refund.ts";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-"));
const keyring = keyringOf(crypto.getRandomValues(new Uint8Array(32)));

/** What a process does when it starts: the same file, a new store, a new runner. */
function newProcess() {
  const store = openSqlite(join(folder, "desk.db"));
  const approvals = new DeferredApproval(store.approvals, { keyring });
  return { store, approvals, runner: new FlowRunner({ approvals, keyring, log: store.log }) };
}

// With a log, every step is on record before its effects, and a run goes on by its id.
const one = newProcess();
const first = await one.runner.run(refund, { orderId: "A-17" }, { runId: "refund-A-17" });
if (first.status !== "paused") throw new Error(first.status);
one.store.close();

// A run that is named by its id may have moved on since somebody looked, so the answer names what it is for.
const two = newProcess();
const second = await two.runner.resume(
  refund,
  "refund-A-17",
  replies({ [first.pending.id]: approve({ by: unverified("dana") }) }),
);
if (second.status !== "paused") throw new Error(second.status);
console.log(second.status, second.pending.tool);

// Had this process died here, `adopt` would go on with what is on record: nothing runs twice.
const adopted = await two.runner.adopt(refund, "refund-A-17");
console.log(adopted.status, adopted.status === "paused" && adopted.pending.tool);

// The checkpoint of a paused result names it too: it goes on in the log, from that very revision.
const done = await two.runner.resume(refund, second.checkpoint, approve({ by: unverified("kim") }));
console.log(done.status);
const history = await two.runner.history(refund, "refund-A-17");
console.log(history.length, "events, the last:", history.at(-1)?.type);
two.store.close();
rmSync(folder, { recursive: true });
