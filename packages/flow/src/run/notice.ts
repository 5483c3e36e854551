import { answeredId, type RunEvent, type RunEventType } from "./event.ts";
import { askedBy, pendingId } from "./wait.ts";

/**
 * An event as it is told: the same name, with ids and paths and without anything that the run holds (FLOW-08, TOOL-11).
 * `approval.decided` is told where a record could not be withdrawn because its port keeps none (FLOW-26).
 */
export interface RunNotice {
  readonly type: RunEventType | "approval.decided";
  readonly runId: string;
  /** The event's number in the run. */
  readonly revision: number;
  /** Milliseconds since 1970, of the process that wrote it. */
  readonly at: number;
  /** The visit's path. */
  readonly visit?: string;
  /** The tool, the step or the nested flow. */
  readonly name?: string;
  /** Ids of what waits or was answered. */
  readonly ids?: readonly string[];
  /** With `routed`: the nested run that it is of; absent for the run itself. */
  readonly frame?: string;
  /** Nodes that come next. */
  readonly next?: readonly string[];
  /** A failure's code. */
  readonly code?: string;
  readonly ok?: boolean;
  /** With `approval.decided`: whether the record itself could be withdrawn. */
  readonly withdrawn?: boolean;
}

type Told = Omit<RunNotice, "type" | "runId" | "revision" | "at">;

export function noticeOf(event: RunEvent, runId: string, revision: number): RunNotice {
  return Object.freeze({ type: event.type, runId, revision, at: event.at, ...told(event) });
}

function told(event: RunEvent): Told {
  switch (event.type) {
    case "run-started":
    case "forked":
    case "migrated":
    case "run-retried":
    case "paused":
    case "completed":
    case "cancelled":
      return {};
    case "visit-started":
    case "visit-waiting":
      return { visit: event.visit };
    case "nested-started":
    case "nested-dropped":
      return { visit: event.visit, name: event.call.name };
    case "nested-finished":
      return { visit: event.visit, name: event.call.name, ok: event.outcome.ok };
    case "call-started":
      return { visit: event.visit, name: event.call.name };
    case "call-finished":
    case "step-recorded":
      return { visit: event.visit, name: event.call.name, ok: event.outcome.ok };
    case "call-unjournaled":
      return { visit: event.visit, name: event.call.name, ok: true };
    case "call-dropped":
      return { visit: event.visit, name: event.tool };
    case "approval-requested":
    case "interrupted":
    case "in-doubt":
    case "sleeping":
      return { visit: event.visit, name: askedBy(event.wait), ids: [pendingId(event.wait)] };
    case "deadline-fired":
      return { visit: event.visit, ids: [event.callId] };
    case "settling":
    case "answered":
      return { ids: event.answers.map(answeredId) };
    case "superseded":
    case "answer-unused":
      return { visit: event.visit, ids: [event.approvalId ?? event.callId] };
    case "retried":
      return { visit: event.visit, code: event.error.code };
    case "replay-diverged":
      return { visit: event.visit };
    case "item-skipped":
      return { visit: event.visit, ok: false, code: event.error.code };
    case "item-finished":
    case "visit-finished":
      return {
        visit: event.visit,
        ok: event.end.ok,
        ...(!event.end.ok && { code: event.end.error.code }),
      };
    case "routed":
      return { next: event.next, ...(event.frame !== undefined && { frame: event.frame }) };
    case "failed":
      return { code: event.error.code, ...(event.node !== undefined && { visit: event.node }) };
  }
}
