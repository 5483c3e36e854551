import type { ApprovalRecords } from "@holdpoint/approvals";
import type { AnyTool, CallIdentity, Executor } from "@holdpoint/tools";

import type { Made } from "./identity.ts";
import type { Kept, Replaced, Settled, SpentApproval, SpentHere, Started } from "./journal.ts";
import type { LiveRun } from "./live.ts";

/** What a call needs to know of the visit it is made in. */
export interface CallSite {
  readonly live: LiveRun;
  readonly visit: string;
  readonly signal: AbortSignal;
  /** Seals all that is known of the run, opens it again and compares (FLOW-26). @throws FlowError `state-not-sealable` */
  prepare(): void;
  /** This call's question, where it was replaced before. */
  replaced(made: Made): Replaced | undefined;
  /** Whether the execution is over, or cut off: then nobody takes an outcome in any more. */
  readonly over: boolean;
  /** Whether its code may be run again although it was cut off: by a retry of it, of what is around it, or of the run. */
  readonly mayRunAgain: boolean;
  /** Whether it is cut off because the run is left as its log stands: whoever takes it up asks for the same again. */
  readonly comesBack: boolean;
  /** A call is about to have its effect; answers that it has ended. */
  entering(made: Made, tool: AnyTool, begun: () => Started): (() => void) | undefined;
  /** Whether it was cut off by a time limit, its own or that of something around it. */
  readonly timedOut: boolean;
  /** An approval is being spent for a call: its execution is not over before that call has ended, however it is cut off. */
  spending(ending: Promise<unknown>): void;
  /** An approval that was spent for a call which was cut off before it was entered: the call may be made again. */
  leftUnused(approval: SpentApproval): void;
  /** Keeps what a call cost, and the approval that allowed or refused it, for its journal entry. */
  spentOn(made: Made, what: { readonly cost?: number; readonly approval?: SpentApproval }): void;
  /** Recorded arguments, by what the tool's input reaches. */
  openArguments(kept: Kept, tool: AnyTool): unknown;
}

/** How a call is made. */
export interface CallWay {
  readonly tool: AnyTool;
  /** An executor that the node brought along, with approvals of its own (FLOW-56). */
  readonly executor: Executor | undefined;
}

/** What happens to one call while it is made. */
export interface Making {
  readonly site: CallSite;
  readonly way: CallWay;
  readonly made: Made;
  /** Its question, where it was replaced before. */
  readonly replaced: Replaced | undefined;
  readonly identity: () => CallIdentity;
  readonly callId: () => string;
  /** The records behind the port that is asked. */
  readonly records: ApprovalRecords | undefined;
  /** Whether its intent is on record already. */
  readonly again: boolean;
  /** How often it was in doubt before (FLOW-76). */
  readonly doubts: number | undefined;
  approval: SpentHere | undefined;
  /** Set when its effect begins; says that it ended. */
  left: (() => void) | undefined;
  /** Set when it has begun: settles when nothing of it is under way any more. */
  ending: Promise<Settled | undefined> | undefined;
}
