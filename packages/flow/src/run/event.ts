import type { ActorRef, DecisionRecord } from "@holdpoint/approvals";
import type { ErrorInfo } from "@holdpoint/tools";

import type { Manifest } from "../graph/digest.ts";
import type { State } from "../graph/node.ts";
import type { Identity } from "./identity.ts";
import type { Kept, Settled, SpentApproval } from "./journal.ts";
import type { Again } from "./retry-stand.ts";
import type { Stand } from "./state.ts";
import type { ApprovalWait, InDoubtWait, InterruptWait, SleepWait } from "./wait.ts";

/** What shapes a run, sealed with it at its start; another runner's settings don't change it (FLOW-43). */
export interface RunSettings {
  readonly concurrency: number;
  readonly roundsMax: number;
  readonly visitsMax: number;
  /** Smaller bounds of single nodes, by name. */
  readonly nodeVisits: Readonly<Record<string, number>>;
  /** Whether a re-run that asks for other things than were recorded fails instead of telling. */
  readonly strict: boolean;
}

/** Who a run is. */
export interface RunSeed {
  readonly runId: string;
  readonly scope: string;
  readonly flow: string;
  readonly digest: string;
  readonly manifest: Manifest;
  readonly settings: RunSettings;
  readonly requestedBy: ActorRef | undefined;
}

/** What a visit evaluated once, at its start (FLOW-63). */
export type VisitInputs =
  | { readonly kind: "gate"; readonly asks: boolean; readonly payload: Kept }
  | { readonly kind: "call"; readonly args: Kept }
  /** `items` holds the list: what `over` gave, or the arguments made of each. */
  | { readonly kind: "map"; readonly items: Kept; readonly count: number }
  | { readonly kind: "subflow"; readonly input: Kept };

/** How a visit ended. `via` names the edge that takes over from the ordinary ones. */
export type VisitEnd =
  | { readonly ok: true; readonly update: State; readonly via?: "denied" }
  | { readonly ok: false; readonly error: ErrorInfo; readonly via?: "failed" };

/** How an item of a map ended. */
export type ItemEnd =
  | { readonly ok: true; readonly value: Kept }
  | { readonly ok: false; readonly error: ErrorInfo };

/** What is spent on something that waits, by its kind. */
export type Answered = DecisionAnswered | InterruptAnswered | DoubtAnswered;

interface AnsweredBase {
  readonly visit: string;
  readonly callId: string;
}

/** A decision on an approval. */
export interface DecisionAnswered extends AnsweredBase {
  readonly kind: "approval";
  readonly approvalId: string | undefined;
  readonly argumentsDigest: string;
  readonly decision: DecisionRecord;
}

/** An answer to an interrupt, as its schema read it: kept as a text (FLOW-22). */
export interface InterruptAnswered extends AnsweredBase {
  readonly kind: "interrupt";
  readonly payload: Kept;
  /** Digest of the payload as it was given, by which the same one given again is known; absent of one that has no canonical form. */
  readonly given?: string;
  readonly by: ActorRef | undefined;
}

/** What a person said of a call in doubt (FLOW-76). */
export interface DoubtAnswered extends AnsweredBase {
  readonly kind: "in-doubt";
  readonly verdict: Verdict;
  readonly by: ActorRef;
}

/** What became of a call in doubt. A result is kept as a text. */
export type Verdict =
  | { readonly is: "ran"; readonly result: Kept }
  | { readonly is: "did-not-run" }
  | { readonly is: "failed"; readonly error: ErrorInfo };

/** The id of what was answered. */
export function answeredId(answer: Answered): string {
  return answer.kind === "approval" ? (answer.approvalId ?? answer.callId) : answer.callId;
}

/**
 * Everything that happens to a run (FLOW-74). A run is the list of these; its state is their fold. `at` is the time of
 * the process that wrote the event, in milliseconds since 1970; order comes from the list, never from times.
 */
export type RunEvent = { readonly at: number } & (
  | {
      readonly type: "run-started";
      readonly seed: RunSeed;
      /** The node that the run begins with. */
      readonly start: string;
      readonly state: State;
    }
  | {
      /** The run stands where another one waited (FLOW-65). */
      readonly type: "forked";
      readonly from: { readonly runId: string; readonly revision: number };
      /** Rounds that led there: they count against this run's budget. */
      readonly rounds: number;
      readonly stand: Stand;
    }
  | {
      /** The run was carried over to another graph (FLOW-53). */
      readonly type: "migrated";
      /** Digest of the graph that it was of. */
      readonly from: string;
      readonly seed: RunSeed;
      readonly stand: Stand;
    }
  | {
      /** The run had failed, and goes on: what had failed is attempted anew (WF-29). */
      readonly type: "run-retried";
      readonly by: ActorRef | undefined;
      /** What is attempted anew; its failures are kept and replayed to nobody. */
      readonly again: readonly Again[];
      readonly stand: Stand;
    }
  | {
      readonly type: "visit-started";
      readonly visit: string;
      readonly inputs: VisitInputs | undefined;
    }
  | {
      readonly type: "call-started";
      readonly visit: string;
      readonly call: Identity;
      readonly arguments: Kept;
      readonly idempotent: boolean;
      readonly approval?: SpentApproval;
    }
  | {
      readonly type: "call-finished";
      readonly visit: string;
      readonly call: Identity;
      readonly outcome: Settled;
      readonly cost: number;
      readonly approval?: SpentApproval;
    }
  | { readonly type: "call-dropped"; readonly visit: string; readonly tool: string }
  | {
      readonly type: "call-unjournaled";
      readonly visit: string;
      readonly call: Identity;
      /** What could not be sealed, and where in the result. */
      readonly why: string;
      readonly path?: string;
      readonly cost: number;
      readonly approval?: SpentApproval;
    }
  | {
      readonly type: "step-recorded";
      readonly visit: string;
      readonly call: Identity;
      readonly outcome: Settled;
    }
  | {
      readonly type: "nested-started";
      /** The execution that it is within. */
      readonly visit: string;
      readonly call: Identity;
      readonly order: number;
      /** Before the paths of its visits. */
      readonly path: string;
      readonly start: string;
      readonly nodeVisits: Readonly<Record<string, number>>;
      readonly state: State;
    }
  | {
      readonly type: "nested-finished";
      readonly visit: string;
      readonly call: Identity;
      /** Absent: it could not be begun. */
      readonly path?: string;
      /** The state that it ended in, or how it failed. */
      readonly outcome: Settled;
    }
  | {
      /** The code that began it did not ask for it again. */
      readonly type: "nested-dropped";
      readonly visit: string;
      readonly call: Identity;
      readonly path: string;
    }
  | { readonly type: "approval-requested"; readonly visit: string; readonly wait: ApprovalWait }
  | { readonly type: "interrupted"; readonly visit: string; readonly wait: InterruptWait }
  | { readonly type: "in-doubt"; readonly visit: string; readonly wait: InDoubtWait }
  | { readonly type: "sleeping"; readonly visit: string; readonly wait: SleepWait }
  | { readonly type: "deadline-fired"; readonly visit: string; readonly callId: string }
  | { readonly type: "visit-waiting"; readonly visit: string }
  | { readonly type: "settling"; readonly attemptId: string; readonly answers: readonly Answered[] }
  | { readonly type: "answered"; readonly attemptId: string; readonly answers: readonly Answered[] }
  | {
      readonly type: "superseded";
      readonly visit: string;
      readonly callId: string;
      readonly approvalId: string | undefined;
      /** Whether it is asked again at once, under a new id. */
      readonly again: boolean;
    }
  | {
      readonly type: "answer-unused";
      readonly visit: string;
      readonly callId: string;
      readonly approvalId: string | undefined;
    }
  | {
      readonly type: "retried";
      readonly visit: string;
      readonly attempt: number;
      readonly error: ErrorInfo;
    }
  | {
      readonly type: "replay-diverged";
      readonly visit: string;
      readonly expected: readonly string[];
      readonly came: readonly string[];
    }
  | { readonly type: "item-finished"; readonly visit: string; readonly end: ItemEnd }
  | {
      /** An item that failed or was denied, in a map that goes on without it. */
      readonly type: "item-skipped";
      readonly visit: string;
      readonly reason: "denied" | "failed";
      readonly error: ErrorInfo;
    }
  | { readonly type: "visit-finished"; readonly visit: string; readonly end: VisitEnd }
  | {
      readonly type: "routed";
      /** The nested run whose round it was; absent for the run itself. */
      readonly frame?: string;
      /** Fields with a reducer, merged: the fold runs no code of the user's. */
      readonly reduced: State;
      /** What each visit chose or followed. */
      readonly taken: Readonly<Record<string, readonly string[]>>;
      readonly next: readonly string[];
      /** Joins that are due and wait for others; absent: none (FLOW-10). */
      readonly held?: readonly string[];
      readonly ended: boolean;
    }
  | { readonly type: "paused" }
  | { readonly type: "completed" }
  | { readonly type: "failed"; readonly error: ErrorInfo; readonly node: string | undefined }
  | { readonly type: "cancelled"; readonly reason: string; readonly by: ActorRef | undefined }
);

export type RunEventType = RunEvent["type"];
export type EventOf<T extends RunEventType> = Extract<RunEvent, { readonly type: T }>;
