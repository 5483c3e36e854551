import type { LedgerEntry } from "../ledger.ts";
import { type LiveCall, textOf } from "./live-call.ts";
import type { CallOutcome } from "../order.ts";
import { redact } from "../secret.ts";
import { conclude, keepsRecord } from "./settle.ts";

/**
 * What is written and told once a call has ended: the approval's outcome, the ledger's entry, the
 * event.
 */
export function finish(call: LiveCall, outcome: CallOutcome): Promise<void> | undefined {
  const writes =
    keepsRecord(call) || (call.ports.ledger !== undefined && call.execution !== undefined);
  if (writes) return write(call, outcome);
  tellEnd(call, outcome);
  return undefined;
}

async function write(call: LiveCall, outcome: CallOutcome): Promise<void> {
  await conclude(call, outcome);
  if (call.execution !== undefined) await enter(call, outcome);
  tellEnd(call, outcome);
}

/**
 * TOOL-06: executed calls only. The effect stands, so a ledger that fails is told of and fails
 * nothing.
 */
async function enter(call: LiveCall, outcome: CallOutcome): Promise<void> {
  try {
    await call.ports.ledger?.record(entryOf(call, outcome));
  } catch {
    call.tell({ kind: "dropped", what: "ledger-entry" });
  }
}

function entryOf(call: LiveCall, outcome: CallOutcome): LedgerEntry {
  const { order, record, execution, ports, approval } = call;
  const { startedAt, since, attempts } = execution!;
  return {
    runId: order.runId,
    node: order.node,
    tool: record.name,
    version: record.version,
    callId: textOf(() => order.callId()),
    idempotencyKey: textOf(() => order.idempotencyKey()),
    argumentsDigest: textOf(() => call.digest(redact(call.args, record.secrets))),
    approvalId: approval?.id,
    startedAt,
    durationMs: ports.clock.monotonic() - since,
    attempts,
    outcome: outcome.status === "failed" ? outcome.error.code : outcome.status,
  };
}

function tellEnd(call: LiveCall, outcome: CallOutcome): void {
  if (call.ports.listeners.size === 0) return;
  if (outcome.status === "ok") {
    const durationMs = call.ports.clock.monotonic() - call.execution!.since;
    call.tell({ kind: "finished", durationMs });
  } else if (outcome.status === "failed") {
    const { error, executed } = outcome;
    call.tell({ kind: "failed", code: error.code, executed });
  }
}
