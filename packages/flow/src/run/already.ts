import { ApprovalAlreadyDecided, type ActorRef, type DecisionRecord } from "@holdpoint/approvals";

import { answeredId, type Answered } from "./event.ts";
import type { TimedWait } from "./deadlines.ts";

/** Who answered, where nobody was named. */
const unnamed: ActorRef = Object.freeze({ id: "unnamed", assurance: "none" });

/** What became of a question, for whoever answers it a second time. */
export interface Standing {
  /** The question's. */
  readonly id: string;
  readonly decision: DecisionRecord;
  /** Where "approved" and "denied" are not the words for it. */
  readonly says?: string;
}

/** A deadline that fired. */
export function firedOf({ callId, until }: TimedWait): Standing {
  const decision = { approved: true, by: unnamed, at: until };
  return { id: callId, decision, says: `the deadline ${callId} has fired already` };
}

/** `at`: when it was answered, as far as that is known. */
export function standingOf(answered: Answered, at: number): Standing {
  const id = answeredId(answered);
  if (answered.kind === "approval") return { id, decision: answered.decision };
  const decision = { approved: true, by: answered.by ?? unnamed, at };
  return { id, decision, says: `${id} is answered already` };
}

/** A second use of what was answered before (FLOW-54). */
export function alreadyStands({ id, decision, says }: Standing): ApprovalAlreadyDecided {
  return new ApprovalAlreadyDecided(id, decision, says);
}
