/**
 * What a sealed state leaves out, since whoever reads it has it in any case: each character of a body is written, quoted, signed,
 * verified, read and looked through.
 *
 * B1 An execution's lists and counters are left out where they are as they are at first; so are a frame's.
 * B2 A question's facts are left out where they are what the run, the visit or the question itself says. Where they differ in
 *    any way they are written: nothing is derived that was not compared when it was left out.
 */
import { newExecution, type ExecutionState } from "../run/journal.ts";
import type { RunSeed } from "../run/event.ts";
import type { Frame, NestedFrame } from "../run/state.ts";
import type { ApprovalWait } from "../run/wait.ts";

type Writable<T> = { -readonly [K in keyof T]?: T[K] };

/** B1 */
export function shortExecution(execution: ExecutionState): ExecutionState {
  const { journal, waits, started, replaced, nested, begun, retries } = execution;
  const short: Writable<ExecutionState> = {};
  if (journal.length > 0) short.journal = journal;
  if (waits.length > 0) short.waits = waits;
  if (started.length > 0) short.started = started;
  if (Object.keys(replaced).length > 0) short.replaced = replaced;
  if (nested.length > 0) short.nested = nested;
  if (Object.keys(begun).length > 0) short.begun = begun;
  if (retries !== 0) short.retries = retries;
  return short as ExecutionState;
}

/** An execution of its own again. */
export function wholeExecution(short: Partial<ExecutionState>): ExecutionState {
  return { ...newExecution(), ...short };
}

/** B1 */
export function shortFrame<F extends Frame>(frame: F): F {
  const { state, visits, visited, held, endReached, path } = frame;
  const short: Writable<NestedFrame> = { state, visits, visited };
  if (held.length > 0) short.held = held;
  if (endReached) short.endReached = true;
  if (path !== "") short.path = path;
  if ("nodeVisits" in frame) short.nodeVisits = frame.nodeVisits as NestedFrame["nodeVisits"];
  return short as Frame as F;
}

const frameAtFirst = { held: [] as readonly string[], endReached: false, path: "" };

/** A frame with what was left out of it. */
export function wholeFrame<F extends Frame>(short: F): F {
  return { ...frameAtFirst, ...short };
}

/** B2 `wait` and `facts`: as they are written. */
export function shortFacts(
  { id, callId }: Pick<ApprovalWait, "id" | "callId">,
  facts: ApprovalWait["facts"],
  { scope, runId }: RunSeed,
  visit: string,
): ApprovalWait["facts"] {
  const short: Writable<ApprovalWait["facts"]> = { kind: facts.kind, tool: facts.tool };
  if (facts.scope !== scope) short.scope = facts.scope;
  if (facts.runId !== runId) short.runId = facts.runId;
  if (facts.node !== visit) short.node = facts.node;
  if (facts.callId !== callId) short.callId = facts.callId;
  if (facts.argumentKey !== id?.key) short.argumentKey = facts.argumentKey;
  if (facts.requestedBy !== undefined) short.requestedBy = facts.requestedBy;
  if (Object.keys(facts.rule).length > 0) short.rule = facts.rule;
  if (facts.context !== undefined) short.context = facts.context;
  return short as ApprovalWait["facts"];
}

/** A question with all its facts. */
export function wholeWait(
  wait: ApprovalWait,
  { scope, runId }: RunSeed,
  visit: string,
): ApprovalWait {
  const short: Partial<ApprovalWait["facts"]> = wait.facts;
  const { kind, tool, rule = {}, requestedBy, context } = short;
  const facts: Writable<ApprovalWait["facts"]> = {
    kind: kind!,
    tool: tool!,
    scope: short.scope ?? scope,
    runId: short.runId ?? runId,
    node: short.node ?? visit,
    callId: short.callId ?? wait.callId,
    argumentKey: short.argumentKey ?? wait.id?.key ?? "",
    requestedBy,
    rule,
  };
  if (context !== undefined) facts.context = context;
  return { ...wait, facts: facts as ApprovalWait["facts"] };
}
