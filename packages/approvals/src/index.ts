// Time, chance, commits
export { systemClock, systemIds, type CancelTimer, type Clock, type Ids } from "./clock.ts";
export type { Cell, CommitOutcome, Committer, Fence, Refusal, Row, Write } from "./commit.ts";

// People, requests, decisions
export type { ActorRef } from "./actor.ts";
export type { ApprovalRequest, RequestFacts } from "./request.ts";
export type { ApprovalRule } from "./rule.ts";
export type {
  Approve,
  Decision,
  DecisionRecord,
  Deny,
  Outcome,
  WithdrawReason,
} from "./decision.ts";

// Ports
export type {
  ApprovalPort,
  ApprovalRecords,
  ConcludeHow,
  PortAnswer,
  RecordState,
  RequestHow,
  SettleHow,
  SettlePlan,
  WithdrawHow,
} from "./port.ts";
