// Time, chance, commits
export {
  eventLoopTurn,
  systemClock,
  systemIds,
  type CancelTimer,
  type Clock,
  type Ids,
} from "./clock.ts";
export {
  assertWrites,
  putLease,
  tableOf,
  versionOf,
  type Cell,
  type CommitOutcome,
  type Committer,
  type Fence,
  type LeaseColumns,
  type Refusal,
  type Row,
  type Write,
} from "./commit.ts";
export { memoryHome, type AppliedWrite, type MemoryHome } from "./memory-home.ts";
export type { KeyRange } from "./row-table.ts";
export { memoryRemover, type Removal, type RowName, type RowRemover } from "./removal.ts";

// People
export {
  actorRef,
  assertActor,
  identityPort,
  isActor,
  unverified,
  type Actor,
  type ActorRef,
  type Identity,
  type IdentityPort,
} from "./actor.ts";

// Requests, rules, decisions
export {
  ApprovalRequest,
  requestFromRedacted,
  requestOf,
  type RedactedRequest,
  type RequestFacts,
} from "./request.ts";
export { checkedRule, type ApprovalRule } from "./rule.ts";
export {
  approve,
  decisionTerms,
  deny,
  editedArguments,
  isDecision,
  type Approve,
  type Decision,
  type DecisionRecord,
  type DecisionTerms,
  type Deny,
  type Edited,
  type Outcome,
  type WithdrawReason,
} from "./decision.ts";
export { sealableDecision } from "./hidden-arguments.ts";
export { ineligible, type Ineligible } from "./eligibility.ts";
export { editStands, type EditPort, type EditVerdict, type ProposedEdit } from "./edits.ts";

// Ports
export { approveAll, denyAll, type AllOptions } from "./ports/all.ts";
export { askApproval, type Ask, type AskOptions, type Question } from "./ports/ask.ts";
export { DeferredApproval } from "./ports/deferred.ts";
export { rulesApproval, type DecidingRule, type RulesOptions } from "./ports/rules.ts";
export type {
  ApprovalPort,
  ApprovalRecords,
  ConcludeHow,
  PortAnswer,
  RecordedArguments,
  RecordState,
  RequestHow,
  SettleHow,
  SettlePlan,
  WithdrawHow,
} from "./port.ts";

// Records
export { SealedRecords, type RecordOptions } from "./records.ts";
export type { ArgumentSealer } from "./record-codec.ts";
export type { DecideHow, DecideResult } from "./deciding.ts";
export type { ArgumentSets, ApprovalView, ShownVote } from "./record-view.ts";
export { diffArguments, type ArgumentChange } from "./diff.ts";
export type { ApprovalList, ListQuery } from "./listing.ts";
export type {
  ApprovalChanges,
  ApprovalEvent,
  ApprovalEventType,
  ChangesQuery,
} from "./watching.ts";
export type { AuditEntry, AuditReport } from "./audit-check.ts";

// Stores
export { memoryApprovalStore } from "./memory.ts";
export {
  auditKey,
  noExpiry,
  placeOf,
  statements,
  type ApprovalColumns,
  type ApprovalFilter,
  type ApprovalOrder,
  type ApprovalPage,
  type ApprovalState,
  type ApprovalStore,
  type AsOf,
  type KeyColumns,
  type PagePlace,
  type StoredChange,
} from "./store.ts";

// Errors and limits
export {
  ApprovalAlreadyDecided,
  ApprovalError,
  ApprovalPending,
  isApprovalError,
  StoreUnavailable,
  type ApprovalErrorCode,
} from "./errors.ts";
export { isId, isKey, isName, limits } from "./limits.ts";
