import { ApprovalAlreadyDecided, type ActorRef } from "@holdpoint/approvals";

import { answeredId, type Answered } from "./event.ts";
import type { TimedWait } from "./deadlines.ts";

/** Who answered, where nobody was named. */
const unnamed: ActorRef = Object.freeze({ id: "unnamed", assurance: "none" });

/** A second use of a checkpoint in which a deadline fired. */
export function alreadyFired({ callId, until }: TimedWait): ApprovalAlreadyDecided {
  const decision = { approved: true, by: unnamed, at: until };
  return new ApprovalAlreadyDecided(callId, decision, `the deadline ${callId} has fired already`);
}

/** A second use of what was answered before (FLOW-54). `at`: when it was, as far as that is known. */
export function alreadyAnswered(answered: Answered, at: number): ApprovalAlreadyDecided {
  const id = answeredId(answered);
  if (answered.kind === "approval") return new ApprovalAlreadyDecided(id, answered.decision);
  const decision = { approved: true, by: answered.by ?? unnamed, at };
  return new ApprovalAlreadyDecided(id, decision, `${id} is answered already`);
}
