import { approve, DeferredApproval, unverified } from "@holdpoint/approvals";
import { flow, FlowRunner, replies } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { openSqlite, type SqliteStore } from "@holdpoint/sqlite";
import { z } from "zod";

const keyring = keyringOf(new Uint8Array(32).fill(7)); // yours comes from where you keep secrets

const offer = flow("offer", z.object({ to: z.string(), sent: z.boolean().optional() }))
  .gate("review", { payload: (state) => ({ to: state.to }) })
  .node("send", () => ({ sent: true }))
  .path("review", "send")
  .build();

const runnerOn = (store: SqliteStore) =>
  new FlowRunner({
    approvals: new DeferredApproval(store.approvals, { keyring }),
    log: store.log,
    keyring,
  });

const monday = openSqlite("desk.db"); // made where there is none
const held = await runnerOn(monday).run(offer, { to: "rita" }, { runId: "offer-1" });
if (held.status !== "paused") throw new Error(held.status);
console.log(held.status);
const { id } = held.pending; // what an answer names
monday.close();

// a day and a process later
const tuesday = openSqlite("desk.db");
const answer = replies({ [id]: approve({ by: unverified("dana") }) });
const done = await runnerOn(tuesday).resume(offer, "offer-1", answer);
console.log(done.status);
tuesday.close();
