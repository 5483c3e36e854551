/**
 * What a caller brings to a resume, matched with what waits: all of it or none (FLOW-30).
 */
import { isDecision, type Decision } from "@holdpoint/approvals";

import { FlowError } from "../errors.ts";
import { pendingId, type ApprovalWait, type Waiting } from "./wait.ts";

const brand = Symbol.for("@holdpoint/flow.replies");

/** Several answers, by the ids of what waits. */
export class Replies {
  readonly byId: ReadonlyMap<string, Decision>;

  constructor(byId: ReadonlyMap<string, Decision>) {
    this.byId = byId;
    Object.defineProperty(this, brand, { value: true });
    Object.freeze(this);
  }
}

/** Answers for several things that wait: `replies({ [id]: approve(…), … })`. @throws FlowError `answer-invalid` */
export function replies(byId: Readonly<Record<string, Decision>>): Replies {
  const entries = Object.entries(byId);
  for (const [id, reply] of entries) {
    if (!isDecision(reply)) throw invalid(`the reply to ${id}`);
  }
  return new Replies(new Map(entries));
}

/** What `resume` takes. */
export type Reply = Decision | Replies;

/** An answer with what it answers. */
export interface Matched extends Waiting<ApprovalWait> {
  readonly decision: Decision;
}

/**
 * Matches; changes nothing.
 * @throws FlowError `answer-invalid` for what nobody made, `answer-ambiguous` for a bare answer where several wait,
 *   `answer-unknown` for an id that is not waiting
 */
export function matchReply(reply: unknown, waits: readonly Waiting[], runId: string): Matched[] {
  const ids = waits.map(({ wait }) => pendingId(wait));
  if (isDecision(reply)) {
    if (waits.length === 0) {
      throw new FlowError("answer-unknown", `nothing waits for an answer in run ${runId}`, {
        runId,
        ids,
      });
    }
    if (waits.length !== 1) {
      throw new FlowError(
        "answer-ambiguous",
        `a bare answer, and ${waits.length} things wait: name one of ${ids.join(", ")}`,
        { runId, ids },
      );
    }
    return [{ ...waits[0]!, decision: reply }];
  }
  if (!isReplies(reply)) throw invalid("the answer");
  return [...reply.byId].map(([id, decision]) => {
    const found = waits.find(({ wait }) => pendingId(wait) === id);
    if (found === undefined) {
      throw new FlowError(
        "answer-unknown",
        `${id} is not waiting in run ${runId} (waiting: ${ids.join(", ")})`,
        { runId, id, ids },
      );
    }
    return { ...found, decision };
  });
}

function isReplies(value: unknown): value is Replies {
  return typeof value === "object" && value !== null && Object.hasOwn(value, brand);
}

function invalid(what: string): FlowError {
  return new FlowError(
    "answer-invalid",
    `${what} was made by none of approve(), deny(), replies(): answers are never guessed by their shape`,
  );
}
