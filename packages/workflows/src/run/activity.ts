import type { RunEvent, RunEventType } from "@holdpoint/flow";

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
  /** The visit that it is about. */
  readonly visit?: string;
  readonly tool?: string;
  readonly approvalId?: string;
  /** Who decided or cancelled. */
  readonly by?: string;
}

export interface HistoryQuery {
  /** Only what came after this revision; default 0. */
  readonly after?: number;
  /** 1 to 500; default 50. */
  readonly limit?: number;
}

/** Derived from the log's event alone, so it reads the same live and later. */
export function activityOf(event: RunEvent, runId: string, revision: number): Activity {
  const { at, type } = event;
  return { id: `${runId}/${revision}`, revision, at, type, ...detailsOf(event) };
}

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
      return event.by === undefined ? {} : { by: event.by.id };
    default:
      return "visit" in event ? { visit: event.visit } : {};
  }
}
