/**
 * Events and states as they are sealed: plain data. Values that user code made (results, arguments, payloads) are kept as
 * texts of their own, decoded only when somebody asks for them, by that somebody's schema (FLOW-71).
 */
import { isSealError, type Sealer } from "@holdpoint/seal";

import { FlowError } from "../errors.ts";
import { plainIdentity } from "../run/identity.ts";
import type { RunEvent, VisitInputs } from "../run/event.ts";
import type { Entry, ExecutionState, Kept, Settled, Started, Wait } from "../run/journal.ts";
import type { RunState, VisitState } from "../run/state.ts";

type Text = Extract<Kept, { form: "text" }>;

/** Encodes a value where that was not done yet. @throws NotSealableError with the path below `where`. */
function keptText(kept: Kept, sealer: Sealer): Text {
  return kept.form === "text" ? kept : { form: "text", text: sealer.encode(kept.value) };
}

function settledForm(outcome: Settled, sealer: Sealer): Settled {
  return outcome.ok ? { ok: true, result: keptText(outcome.result, sealer) } : outcome;
}

function waitForm(wait: Wait, sealer: Sealer): Wait {
  return {
    ...wait,
    id: wait.id && plainIdentity(wait.id),
    arguments: keptText(wait.arguments, sealer),
  };
}

function startedForm(started: Started, sealer: Sealer): Started {
  return {
    ...started,
    id: plainIdentity(started.id),
    arguments: keptText(started.arguments, sealer),
  };
}

function entryForm(entry: Entry, sealer: Sealer): Entry {
  return { ...entry, id: plainIdentity(entry.id), outcome: settledForm(entry.outcome, sealer) };
}

function inputsForm(inputs: VisitInputs | undefined, sealer: Sealer): VisitInputs | undefined {
  if (inputs === undefined) return undefined;
  return inputs.kind === "gate"
    ? { ...inputs, payload: keptText(inputs.payload, sealer) }
    : { ...inputs, args: keptText(inputs.args, sealer) };
}

function executionForm(execution: ExecutionState, sealer: Sealer): ExecutionState {
  return {
    journal: execution.journal.map((entry) => entryForm(entry, sealer)),
    waits: execution.waits.map((wait) => waitForm(wait, sealer)),
    started: execution.started.map((started) => startedForm(started, sealer)),
  };
}

function visitForm(visit: VisitState, sealer: Sealer): VisitState {
  if (visit.status === "finished") return visit;
  return {
    ...visit,
    inputs: inputsForm(visit.inputs, sealer),
    execution: executionForm(visit.execution, sealer),
  };
}

/** A run's state as it is sealed. @throws NotSealableError */
export function stateForm(run: RunState, sealer: Sealer): RunState {
  return { ...run, visits: run.visits.map((visit) => visitForm(visit, sealer)) };
}

/** An event as it is sealed. @throws NotSealableError */
export function eventForm(event: RunEvent, sealer: Sealer): RunEvent {
  switch (event.type) {
    case "visit-started":
      return { ...event, inputs: inputsForm(event.inputs, sealer) };
    case "call-started":
      return {
        ...event,
        call: plainIdentity(event.call),
        arguments: keptText(event.arguments, sealer),
      };
    case "call-finished":
    case "step-recorded":
      return {
        ...event,
        call: plainIdentity(event.call),
        outcome: settledForm(event.outcome, sealer),
      };
    case "call-unjournaled":
      return { ...event, call: plainIdentity(event.call) };
    case "approval-requested":
      return { ...event, wait: waitForm(event.wait, sealer) };
    default:
      return event;
  }
}

/** Runs an encoding; what can't be sealed fails closed, by its path. @throws FlowError `state-not-sealable` */
export function sealable<T>(what: string, runId: string, encode: () => T): T {
  try {
    return encode();
  } catch (cause) {
    if (!isSealError(cause, "state-not-sealable")) throw cause;
    throw new FlowError(
      "state-not-sealable",
      `${what} can't be sealed: ${cause.message}`,
      { runId },
      cause,
    );
  }
}
