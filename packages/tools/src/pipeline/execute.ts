import { attempt, type AttemptEnd } from "./attempt.ts";
import { onAbort } from "./abort.ts";
import { ToolOutputError, ToolTimedOutError } from "../errors.ts";
import type { LiveCall } from "./live-call.ts";
import type { CallOutcome } from "../order.ts";
import { nextAttemptInMs } from "../retry.ts";
import { issuesText } from "../schema.ts";
import { cancelled } from "./take-arguments.ts";

/** Enters `execute`, again where the tool says so (TOOL-13), and validates what it gives. */
export async function execute(call: LiveCall): Promise<CallOutcome> {
  const { order, record, ports } = call;
  if (order.signal.aborted) return cancelled(call);
  const { clock } = ports;
  const execution = { startedAt: clock.now(), since: clock.monotonic(), attempts: 0 };
  call.execution = execution;
  const how = {
    timeoutMs: record.timeoutMs,
    clock,
    late: () => call.tell({ kind: "dropped", what: "late-result" }),
  };
  for (;;) {
    execution.attempts += 1;
    call.tell({ kind: "started", attempt: execution.attempts });
    const ending = attempt(order, call.args, how);
    const end = ending instanceof Promise ? await ending : ending;
    if (end.how === "returned") return validateOutput(call, end.value);
    if (end.how === "cancelled") return cancelled(call);
    const error = call.infoOf(failureOf(call, end));
    const failed = { error, attempt: execution.attempts, inDoubt: end.how === "timed-out" };
    const wait = nextAttemptInMs(record.retry, failed, record.idempotent);
    if (wait === undefined) return { status: "failed", error, executed: true };
    if (wait > 0 && !(await pause(call, wait))) return cancelled(call);
  }
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

async function validateOutput(call: LiveCall, value: unknown): Promise<CallOutcome> {
  const { validateOutput: validate, name: tool } = call.record;
  if (validate === undefined) return { status: "ok", value };
  const validation = validate(value);
  const validated = validation instanceof Promise ? await validation : validation;
  if (validated.ok) return { status: "ok", value: validated.value };
  const { issues } = validated;
  const message = `'${tool}' ran, and its result is not valid: ${issuesText(issues)}`;
  return call.failed(
    new ToolOutputError(message, { code: "output-invalid", attributes: { tool, issues } }),
  );
}
