import { attempt, type AttemptEnd, type AttemptHow } from "./attempt.ts";
import { onAbort } from "./abort.ts";
import { ToolOutputError, ToolTimedOutError } from "../errors.ts";
import type { LiveCall } from "./live-call.ts";
import type { CallOutcome } from "../order.ts";
import { nextAttemptInMs } from "../retry.ts";
import { issuesText, type Validated } from "../schema.ts";
import { cancelled } from "./take-arguments.ts";

/** Enters `execute`, again where the tool says so (TOOL-13), and validates what it gives. */
export function execute(call: LiveCall): CallOutcome | Promise<CallOutcome> {
  const { order, record, ports } = call;
  if (order.signal.aborted) return cancelled(call);
  const { clock } = ports;
  call.execution = { startedAt: clock.now(), since: clock.monotonic(), attempts: 0 };
  return enter(call, {
    timeoutMs: record.timeoutMs,
    clock,
    late: () => call.tell({ kind: "dropped", what: "late-result" }),
  });
}

/** No promise where the tool made none: each costs its caller a turn. */
function enter(call: LiveCall, how: AttemptHow): CallOutcome | Promise<CallOutcome> {
  const execution = call.execution!;
  execution.attempts += 1;
  call.tell({ kind: "started", attempt: execution.attempts });
  const end = attempt(call.order, call.args, how);
  return end instanceof Promise ? end.then((it) => ended(call, how, it)) : ended(call, how, end);
}

function ended(
  call: LiveCall,
  how: AttemptHow,
  end: AttemptEnd,
): CallOutcome | Promise<CallOutcome> {
  if (end.how === "returned") return validateOutput(call, end.value);
  if (end.how === "cancelled") return cancelled(call);
  const { record } = call;
  const error = call.infoOf(failureOf(call, end));
  const { attempts } = call.execution!;
  const failed = { error, attempt: attempts, inDoubt: end.how === "timed-out" };
  const wait = nextAttemptInMs(record.retry, failed, record.idempotent);
  return wait === undefined ? { status: "failed", error, executed: true } : again(call, how, wait);
}

async function again(call: LiveCall, how: AttemptHow, waitMs: number): Promise<CallOutcome> {
  if (waitMs > 0 && !(await pause(call, waitMs))) return cancelled(call);
  return enter(call, how);
}

function failureOf(
  call: LiveCall,
  end: Extract<AttemptEnd, { how: "threw" | "timed-out" }>,
): unknown {
  if (end.how === "threw") return end.thrown;
  const { name: tool, timeoutMs } = call.record;
  return new ToolTimedOutError(`'${tool}' took longer than ${timeoutMs} ms`, {
    code: "timed-out",
    attributes: { tool, timeoutMs },
    retryable: true,
  });
}

/** Waits between attempts; `false` where the caller gave up meanwhile. */
function pause({ order, ports }: LiveCall, delayMs: number): Promise<boolean> {
  const { signal } = order;
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const stopWaiting = onAbort(signal, () => {
      cancel();
      resolve(false);
    });
    const cancel = ports.clock.timer(delayMs, () => {
      stopWaiting();
      resolve(true);
    });
  });
}

function validateOutput(call: LiveCall, value: unknown): CallOutcome | Promise<CallOutcome> {
  const { validateOutput: validate } = call.record;
  if (validate === undefined) return { status: "ok", value };
  const validation = validate(value);
  if (validation instanceof Promise) return validation.then((it) => outputOf(call, it));
  return outputOf(call, validation);
}

function outputOf(call: LiveCall, validated: Validated): CallOutcome {
  if (validated.ok) return { status: "ok", value: validated.value };
  const { name: tool } = call.record;
  const { issues } = validated;
  const message = `'${tool}' ran, and its result is not valid: ${issuesText(issues)}`;
  return call.failed(
    new ToolOutputError(message, { code: "output-invalid", attributes: { tool, issues } }),
  );
}
