import type { RunEvent, RunEventType } from "@holdpoint/flow";

import { WorkflowError } from "../errors.ts";
import { activityCharactersMax } from "../limits.ts";

/**
 * One thing that happened to a run, as it may leave the boundary (WF-13): ids, names and times. No arguments, states,
 * results or notes.
 */
export interface Activity {
  /** The same live and later, in every process: `<run>/<revision>`. */
  readonly id: string;
  /** 1 is the first; none is missing. */
  readonly revision: number;
  /** Milliseconds since 1970, of the process that wrote it. */
  readonly at: number;
  readonly type: RunEventType;
  /** One short line for a person; names and ids only. */
  readonly text: string;
  /** The visit that it is about. */
  readonly visit?: string;
  readonly tool?: string;
  readonly approvalId?: string;
  /** Who decided, cancelled or retried. */
  readonly by?: string;
}

export interface HistoryQuery {
  /** Only what came after this revision, or after the event of this id; default 0: all of it. */
  readonly after?: number | string;
  /** 1 to 500; default 50. */
  readonly limit?: number;
}

/** Derived from the log's event alone, so it reads the same live and later. */
export function activityOf(event: RunEvent, runId: string, revision: number): Activity {
  const { at, type } = event;
  const id = `${runId}/${revision}`;
  const text = textOf(event).slice(0, activityCharactersMax);
  return { id, revision, at, type, text, ...detailsOf(event) };
}

/** The revision that a history goes on after. @throws WorkflowError `cursor-invalid` */
export function revisionAfter(runId: string, after: number | string): number {
  const revision = typeof after === "number" ? after : numberOf(runId, after);
  if (Number.isSafeInteger(revision) && revision >= 0) return revision;
  const message = `a history of run ${runId} goes on after a revision, or after the id of one of its events`;
  throw new WorkflowError("cursor-invalid", message, { runId });
}

function numberOf(runId: string, id: string): number {
  const digits = id.startsWith(`${runId}/`) ? id.slice(runId.length + 1) : "";
  return /^[1-9]\d{0,15}$/.test(digits) ? Number(digits) : Number.NaN;
}

/** What happened, in words that say nothing of what it was about. */
function textOf(event: RunEvent): string {
  switch (event.type) {
    case "call-started":
    case "call-finished":
    case "call-unjournaled":
      return `${words[event.type]} ${event.call.name}`;
    case "call-dropped":
      return `${words[event.type]} ${event.tool}`;
    case "approval-requested":
      return `asks for approval of ${event.wait.facts.tool}`;
    case "answered":
      return event.answers.map(answerText).join(", ");
    case "in-doubt":
      return `does not know whether it called ${event.wait.started.id.name}`;
    case "interrupted":
      return `asks ${event.wait.id.name}`;
    case "failed":
      return `failed with ${event.error.code}`;
    default:
      return "visit" in event ? `${words[event.type]} at ${event.visit}` : words[event.type];
  }
}

function answerText(answer: Answered): string {
  if (answer.kind !== "approval") return `answered${answer.by ? ` by ${answer.by.id}` : ""}`;
  const { approved, by } = answer.decision;
  return `${approved ? "approved" : "denied"} by ${by.id}`;
}

type Answered = Extract<RunEvent, { readonly type: "answered" }>["answers"][number];

const words: Readonly<Record<RunEventType, string>> = {
  "run-started": "started",
  "visit-started": "begins work",
  "call-started": "calls",
  "call-finished": "called",
  "call-dropped": "dropped",
  "call-unjournaled": "called, without a record of the result,",
  "step-recorded": "recorded a step",
  "approval-requested": "asks for approval",
  "visit-waiting": "waits",
  settling: "spends an answer",
  answered: "answered",
  superseded: "asks anew",
  "answer-unused": "did not need an answer",
  retried: "tries again",
  "run-retried": "retried",
  "replay-diverged": "went another way than before",
  "visit-finished": "finished work",
  routed: "goes on",
  paused: "paused",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  forked: "forked from another run",
  interrupted: "asks",
  "in-doubt": "is in doubt",
  sleeping: "sleeps",
  "deadline-fired": "wakes",
  migrated: "went over to a changed flow",
  "item-finished": "finished an item",
  "item-skipped": "skipped an item",
  "nested-started": "begins a nested flow",
  "nested-finished": "finished a nested flow",
  "nested-dropped": "left a nested flow behind",
};

function detailsOf(event: RunEvent): Pick<Activity, "visit" | "tool" | "approvalId" | "by"> {
  switch (event.type) {
    case "approval-requested": {
      const { approvalId, facts } = event.wait;
      const id = approvalId === undefined ? {} : { approvalId };
      return { visit: event.visit, tool: facts.tool, ...id };
    }
    case "interrupted":
      return { visit: event.visit, tool: `ask:${event.wait.id.name}` };
    case "in-doubt":
      return { visit: event.visit, tool: event.wait.started.id.name };
    case "answered": {
      const [answer] = event.answers;
      if (answer === undefined) return {};
      const { visit } = answer;
      if (answer.kind !== "approval")
        return { visit, ...(answer.by !== undefined && { by: answer.by.id }) };
      const { approvalId, decision } = answer;
      return { visit, by: decision.by.id, ...(approvalId !== undefined && { approvalId }) };
    }
    case "cancelled":
    case "run-retried":
      return event.by === undefined ? {} : { by: event.by.id };
    default:
      return "visit" in event ? { visit: event.visit } : {};
  }
}
