/**
 * Events and states as they are sealed: plain data. Values that user code made (results, arguments, payloads) are kept as
 * texts of their own, decoded only when somebody asks for them, by that somebody's schema (FLOW-71).
 */
import { isSealError, type Sealer } from "@holdpoint/seal";
import { toolFacts } from "@holdpoint/tools";

import { FlowError } from "../errors.ts";
import type { RunEvent, VisitInputs } from "../run/event.ts";
import { plainIdentity, type Identity, type Made } from "../run/identity.ts";
import type { Entry, ExecutionState, Kept, Settled, Started, Wait } from "../run/journal.ts";
import type { RunState, VisitState } from "../run/state.ts";

type Text = Extract<Kept, { form: "text" }>;

/** What a kept value is, where it has to be named. */
interface Named {
  readonly what: string;
  readonly visit: string;
}

// A kept value never changes, and a pause needs its text more than once.
const texts = new WeakMap<Kept, Text>();

/** The text of a kept value. @throws FlowError `state-not-sealable`, naming it and the path (FLOW-27). */
function keptText(kept: Kept, sealer: Sealer, named: Named): Text {
  if (kept.form === "text") return kept;
  if (kept.form === "lost") throw unsealable(named, kept.why);
  const known = texts.get(kept);
  if (known !== undefined) return known;
  const text: Text = { form: "text", text: closed(named, () => sealer.encode(kept.value)) };
  texts.set(kept, text);
  return text;
}

function unsealable({ what, visit }: Named, why: string, cause?: unknown): FlowError {
  return new FlowError(
    "state-not-sealable",
    `${what} in ${visit} can't be sealed: ${why}`,
    { node: visit },
    cause,
  );
}

function closed<T>(named: Named, encode: () => T): T {
  try {
    return encode();
  } catch (cause) {
    if (!isSealError(cause, "state-not-sealable") && !isSealError(cause, "class-not-allowed"))
      throw cause;
    throw unsealable(named, cause.message, cause);
  }
}

function settledForm(id: Identity, outcome: Settled, sealer: Sealer, visit: string): Settled {
  if (!outcome.ok) return outcome;
  const named = { what: `the result of '${id.name}'`, visit };
  const fresh = outcome.result.form === "value";
  const result = keptText(outcome.result, sealer, named);
  const tool = (id as Partial<Made>).tool;
  // FLOW-71: a result whose class the tool's output does not reach could not be loaded: refused now, not weeks later.
  if (fresh && tool !== undefined)
    closed(named, () => sealer.assertLoadable(result.text, { schema: toolFacts(tool).output }));
  return { ok: true, result };
}

function waitForm(wait: Wait, sealer: Sealer, visit: string): Wait {
  const named = { what: `what '${wait.facts.tool}' shows`, visit };
  return {
    ...wait,
    id: wait.id && plainIdentity(wait.id),
    arguments: keptText(wait.arguments, sealer, named),
  };
}

function startedForm(started: Started, sealer: Sealer, visit: string): Started {
  const named = { what: `the arguments of '${started.id.name}'`, visit };
  return {
    ...started,
    id: plainIdentity(started.id),
    arguments: keptText(started.arguments, sealer, named),
  };
}

function entryForm(entry: Entry, sealer: Sealer, visit: string): Entry {
  return {
    ...entry,
    id: plainIdentity(entry.id),
    outcome: settledForm(entry.id, entry.outcome, sealer, visit),
  };
}

function inputsForm(
  inputs: VisitInputs | undefined,
  sealer: Sealer,
  visit: string,
): VisitInputs | undefined {
  if (inputs === undefined) return undefined;
  return inputs.kind === "gate"
    ? { ...inputs, payload: keptText(inputs.payload, sealer, { what: "the payload", visit }) }
    : { ...inputs, args: keptText(inputs.args, sealer, { what: "the arguments", visit }) };
}

function executionForm(execution: ExecutionState, sealer: Sealer, visit: string): ExecutionState {
  return {
    journal: execution.journal.map((entry) => entryForm(entry, sealer, visit)),
    waits: execution.waits.map((wait) => waitForm(wait, sealer, visit)),
    started: execution.started.map((started) => startedForm(started, sealer, visit)),
    generations: execution.generations,
  };
}

function visitForm(visit: VisitState, sealer: Sealer): VisitState {
  if (visit.status === "finished") return visit;
  const { path } = visit;
  return {
    ...visit,
    inputs: inputsForm(visit.inputs, sealer, path),
    execution: executionForm(visit.execution, sealer, path),
  };
}

/** A run's state as it is sealed. @throws FlowError `state-not-sealable` */
export function stateForm(run: RunState, sealer: Sealer): RunState {
  return { ...run, visits: run.visits.map((visit) => visitForm(visit, sealer)) };
}

/** An event as it is sealed. @throws FlowError `state-not-sealable` */
export function eventForm(event: RunEvent, sealer: Sealer): RunEvent {
  switch (event.type) {
    case "visit-started":
      return { ...event, inputs: inputsForm(event.inputs, sealer, event.visit) };
    case "call-started": {
      const named = { what: `the arguments of '${event.call.name}'`, visit: event.visit };
      return {
        ...event,
        call: plainIdentity(event.call),
        arguments: keptText(event.arguments, sealer, named),
      };
    }
    case "call-finished":
    case "step-recorded": {
      const outcome = settledForm(event.call, event.outcome, sealer, event.visit);
      return { ...event, call: plainIdentity(event.call), outcome };
    }
    case "call-unjournaled":
      return { ...event, call: plainIdentity(event.call) };
    case "approval-requested":
      return { ...event, wait: waitForm(event.wait, sealer, event.visit) };
    default:
      return event;
  }
}

/** Runs an encoding; what can't be sealed fails closed, by its path. @throws FlowError `state-not-sealable` */
export function sealable<T>(what: string, runId: string, encode: () => T): T {
  try {
    return encode();
  } catch (cause) {
    if (!isSealError(cause, "state-not-sealable") && !isSealError(cause, "class-not-allowed"))
      throw cause;
    throw new FlowError(
      "state-not-sealable",
      `${what} can't be sealed: ${cause.message}`,
      { runId },
      cause,
    );
  }
}
