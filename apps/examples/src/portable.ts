import { approve, DeferredApproval, memoryApprovalStore, unverified } from "@holdpoint/approvals";
import { FlowRunner, type Pending } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";

import { payments } from "./payments.ts";
import { refund } from "./refund.ts";

const keyring = keyringOf(crypto.getRandomValues(new Uint8Array(32)));
const store = memoryApprovalStore();
const newRunner = () =>
  new FlowRunner({ approvals: new DeferredApproval(store, { keyring }), keyring });

const shown = (pending: Pending) =>
  pending.kind === "approval" ? pending.request.arguments : undefined;

// It pauses at the gate: the checkpoint is a value in your hands.
const first = await newRunner().run(refund, { orderId: "A-17" });
if (first.status !== "paused") throw new Error(first.status);
console.log("waits:", first.pending.tool, shown(first.pending));
const text = newRunner().dumpCheckpoint(first.checkpoint); // keep it anywhere

// Another process, a day later: a person let the gate go. Now the payment itself asks.
const runner = newRunner();
const second = await runner.resume(
  refund,
  runner.loadCheckpoint(refund, text),
  approve({ by: unverified("dana") }),
);
if (second.status !== "paused") throw new Error(second.status);
console.log("waits:", second.pending.tool, shown(second.pending));

const done = await runner.resume(refund, second.checkpoint, approve({ by: unverified("kim") }));
console.log(done.status, done.status === "completed" && done.state);

// A second resume, a double click, a copy of the text: refused, and nothing runs.
const again = runner.resume(refund, second.checkpoint, approve({ by: unverified("kim") }));
console.log("again:", await again.catch((error: unknown) => (error as { code: string }).code));
console.log("payments:", payments.all().length);
