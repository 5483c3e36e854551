import { approve, DeferredApproval, unverified } from "@holdpoint/approvals";
import { flow, FlowRunner, replies } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { openPostgres, type PostgresStore } from "@holdpoint/postgres";
import { z } from "zod";

const url = process.env["DATABASE_URL"] ?? "postgres://localhost/desk";
const keyring = keyringOf(new Uint8Array(32).fill(7)); // yours comes from where you keep secrets

const offer = flow("offer", z.object({ to: z.string(), sent: z.boolean().optional() }))
  .gate("review", { payload: (state) => ({ to: state.to }) })
  .node("send", () => ({ sent: true }))
  .path("review", "send")
  .build();

const runnerOn = (store: PostgresStore) =>
  new FlowRunner({
    approvals: new DeferredApproval(store.approvals, { keyring }),
    log: store.log,
    keyring,
  });

const monday = await openPostgres(url); // the schema is made where there is none
const held = await runnerOn(monday).run(offer, { to: "rita" }, { runId: "offer-1" });
if (held.status !== "paused") throw new Error(held.status);
console.log(held.status);
const { id } = held.pending; // what an answer names
await monday.close();

// a day and a process later
const tuesday = await openPostgres(url);
const answer = replies({ [id]: approve({ by: unverified("dana") }) });
const done = await runnerOn(tuesday).resume(offer, "offer-1", answer);
console.log(done.status);
await tuesday.close();
