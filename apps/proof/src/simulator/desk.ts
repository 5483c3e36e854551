import type { ActorRef, Clock, Decision, DeferredApproval, Ids } from "@holdpoint/approvals";
import { inDoubt, type DoubtAnswer, type Listener, type Logger } from "@holdpoint/flow";
import type { Keyring } from "@holdpoint/seal";

import type { Flows } from "./flows/flows.ts";
import { actor } from "./people.ts";
import type { FlowName } from "./profile.ts";
import type { Stores } from "./stores.ts";

/** What somebody outside can ask of a process. Each resolves with a word for the trace. */
export interface Desk {
  /** Begins to work, where a process has to be told. A process that can't begin ends. */
  begin?(): Promise<string>;
  /** Stops working in an orderly way. */
  end?(): Promise<string>;
  /** Starts a run under an id of the caller's, or answers the one that stands. */
  start(flow: FlowName, id: string): Promise<string>;
  /** Takes up what nobody works on, of these runs. */
  takeUp(runs: readonly string[]): Promise<string>;
  decide(how: Deciding): Promise<string>;
  /** Answers a run's question and goes on with it, in one call. */
  reply(runId: string, how: Deciding): Promise<string>;
  /** Answers what a run's code asks, with the word for it. */
  answer(runId: string, id: string): Promise<string>;
  /** Says what became of a call in doubt; `ran`: what it gave. */
  resolve(runId: string, doubt: Doubted): Promise<string>;
  cancel(runId: string, by: ActorRef): Promise<string>;
  /** Ends what expired undecided. */
  sweep(): Promise<string>;
}

export interface Deciding {
  readonly id: string;
  readonly decision: Decision;
  /** Names this delivery, so that it can be repeated. */
  readonly attemptId: string;
}

/** A call in doubt, and the truth about it. */
export interface Doubted {
  readonly id: string;
  readonly tool: string;
  readonly ran: { readonly ref: string } | undefined;
}

/** What somebody says who knows. */
export function doubtAnswer({ tools }: DeskParts, { tool: name, ran }: Doubted): DoubtAnswer {
  const by = actor("dana");
  const tool = Object.values(tools).find((one) => one.name === name)!;
  return ran === undefined ? inDoubt.didNotRun({ by }) : inDoubt.ran(tool, ran, { by });
}

/** What a desk is made of. */
export interface DeskParts extends Flows {
  readonly store: Stores;
  readonly approvals: DeferredApproval;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly onEvent: Listener;
}

export const scope = "default";
