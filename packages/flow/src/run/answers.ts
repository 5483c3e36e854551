/**
 * What a caller brings to a resume, matched with what waits: all of it or none (FLOW-30).
 */
import { isDecision, type Decision } from "@holdpoint/approvals";

import { FlowError } from "../errors.ts";
import { answerTerms, type Answer, type AnswerTerms } from "./answer.ts";
import { doubtTerms, type DoubtAnswer, type DoubtTerms } from "./doubt-answer.ts";
import {
  pendingId,
  type ApprovalWait,
  type InDoubtWait,
  type InterruptWait,
  type Wait,
  type Waiting,
} from "./wait.ts";

const brand = Symbol.for("@holdpoint/flow.replies");

/** What answers one thing that waits, by its kind. */
export type OneReply = Decision | Answer | DoubtAnswer;

/** Several answers, by the ids of what waits. */
export class Replies {
  readonly byId: ReadonlyMap<string, OneReply>;

  constructor(byId: ReadonlyMap<string, OneReply>) {
    this.byId = byId;
    Object.defineProperty(this, brand, { value: true });
    Object.freeze(this);
  }
}

/** Answers for several things that wait: `replies({ [id]: approve(…), … })`. @throws FlowError `answer-invalid` */
export function replies(byId: Readonly<Record<string, OneReply>>): Replies {
  const entries = Object.entries(byId);
  for (const [id, reply] of entries) {
    if (!isOneReply(reply)) throw invalid(`the reply to ${id}`);
  }
  return new Replies(new Map(entries));
}

/** What `resume` takes. */
export type Reply = OneReply | Replies;

/** An answer with what it answers. */
export type Matched = MatchedDecision | MatchedAnswer | MatchedVerdict;

export interface MatchedDecision extends Waiting<ApprovalWait> {
  readonly decision: Decision;
}

export interface MatchedAnswer extends Waiting<InterruptWait> {
  readonly answer: AnswerTerms;
}

export interface MatchedVerdict extends Waiting<InDoubtWait> {
  readonly doubt: DoubtTerms;
}

/** Whether this answers one thing, without saying which. */
export function isOneReply(value: unknown): value is OneReply {
  return isDecision(value) || answerTerms(value) !== undefined || doubtTerms(value) !== undefined;
}

/**
 * Matches; changes nothing.
 * @throws FlowError `answer-invalid` for what nobody made, and for an answer to another kind of question;
 *   `answer-ambiguous` for a bare answer where several wait; `answer-unknown` for an id that is not waiting
 */
export function matchReply(reply: unknown, waits: readonly Waiting[], runId: string): Matched[] {
  const asked = waits.filter(({ wait }) => wait.kind !== "sleep");
  const ids = asked.map(({ wait }) => pendingId(wait));
  if (isOneReply(reply)) {
    if (asked.length === 0) {
      throw new FlowError("answer-unknown", `nothing waits for an answer in run ${runId}`, {
        runId,
        ids,
      });
    }
    if (asked.length !== 1) {
      throw new FlowError(
        "answer-ambiguous",
        `a bare answer, and ${asked.length} things wait: name one of ${ids.join(", ")}`,
        { runId, ids },
      );
    }
    return [paired(asked[0]!, reply)];
  }
  if (!isReplies(reply)) throw invalid("the answer");
  return [...reply.byId].map(([id, one]) => {
    const found = waits.find(({ wait }) => pendingId(wait) === id);
    if (found === undefined) {
      throw new FlowError(
        "answer-unknown",
        `${id} is not waiting in run ${runId} (waiting: ${ids.join(", ")})`,
        { runId, id, ids },
      );
    }
    return paired(found, one);
  });
}

/** An answer goes with a question of its own kind. */
function paired({ path, wait }: Waiting, reply: OneReply): Matched {
  switch (wait.kind) {
    case "approval":
      if (isDecision(reply)) return { path, wait, decision: reply };
      throw unfit(wait, "is decided by approve() or deny()");
    case "interrupt": {
      const { name } = wait.id;
      const answer = answerTerms(reply);
      if (answer === undefined) throw unfit(wait, `is no approval: answer() answers '${name}'`);
      if (answer.name !== undefined && answer.name !== name)
        throw unfit(wait, `asks '${name}', and this answers '${answer.name}'`);
      return { path, wait, answer };
    }
    case "sleep":
      throw unfit(wait, "sleeps, and nobody answers that");
    case "in-doubt": {
      const tool = wait.started.id.name;
      const doubt = doubtTerms(reply);
      if (doubt === undefined) throw unfit(wait, `is a call of '${tool}' in doubt: see inDoubt`);
      if (doubt.is === "ran" && doubt.tool.name !== tool)
        throw unfit(wait, `is a call of '${tool}', and this is a result of '${doubt.tool.name}'`);
      return { path, wait, doubt };
    }
  }
}

function isReplies(value: unknown): value is Replies {
  return typeof value === "object" && value !== null && Object.hasOwn(value, brand);
}

function invalid(what: string): FlowError {
  return new FlowError(
    "answer-invalid",
    `${what} was made by none of approve(), deny(), answer(), inDoubt, replies(): answers are never guessed by their shape`,
  );
}

function unfit(wait: Wait, why: string): FlowError {
  const id = pendingId(wait);
  return new FlowError("answer-invalid", `${id} ${why}`, { id });
}
