/**
 * The same run undisturbed: no store, no faults, the decisions that were spent given at once. Whatever happened to the real
 * one, it has to end so (I12).
 */
import {
  systemClock,
  type ApprovalPort,
  type Clock,
  type DecisionRecord,
} from "@holdpoint/approvals";
import {
  answer,
  FlowRunner,
  replies,
  type Flow,
  type RunResult,
  type SleepPending,
} from "@holdpoint/flow";

import type { LogBook } from "./books/log-book.ts";
import { errorLabel } from "./expected.ts";
import { Word, wordOn } from "./flows/errand.ts";
import { flowsDoing, type Flows } from "./flows/flows.ts";
import { resultOf } from "./flows/tools.ts";
import { keyring } from "./keyring.ts";
import { requester } from "./people.ts";
import type { FlowName } from "./profile.ts";

export interface Undisturbed {
  readonly status: "completed" | "paused" | "failed";
  readonly state: unknown;
  readonly failure: string | undefined;
  /** What it did, as `Effects.of` says it. */
  readonly acts: readonly string[];
}

/** Runs so far in this process. */
let carriedOut = 0;

const acts = new Set<string>();
const flows: Flows = flowsDoing((tool, args, { idempotencyKey }) => {
  acts.add(`${tool} ${JSON.stringify({ id: args.id, n: args.n })} ${idempotencyKey}`);
  return Promise.resolve(resultOf(tool, args));
});

/** Carries a run out again by what its log says was decided. */
export async function undisturbed(
  log: LogBook,
  { flow, id }: { flow: FlowName; id: string },
): Promise<Undisturbed> {
  acts.clear();
  // This process remembers which checkpoints it resumed: no two runs of an id are of one time.
  const time = { now: (carriedOut += 1) * 1e9 };
  const clock: Clock = { ...systemClock, now: () => time.now };
  const runner = new FlowRunner({ approvals: portOf(log), keyring, clock });
  const done = (): readonly string[] => [...acts].toSorted();
  try {
    const input = { id };
    const options = { runId: log.runId, requestedBy: requester() };
    const of: Flow = flows.flows[flow];
    let result: RunResult = await runner.run(of, input, options);
    while (result.status === "paused") {
      const { pendings, checkpoint } = result;
      const over = pendings.flatMap((one) => (one.kind === "sleep" ? sleptUntil(log, one) : []));
      const words = pendings.filter(({ kind, id }) => kind === "interrupt" && log.words.has(id));
      if (words.length + over.length === 0) break;
      time.now = Math.max(time.now, ...over);
      const answers = words.map(({ id }) => [id, answer(Word, wordOn(id))] as const);
      const reply = answers.length === 0 ? undefined : replies(Object.fromEntries(answers));
      result = await runner.resume(of, checkpoint, reply);
    }
    const state: unknown = result.status === "completed" ? result.state : undefined;
    return { status: result.status, state, failure: undefined, acts: done() };
  } catch (error) {
    return { status: "failed", state: undefined, failure: errorLabel(error), acts: done() };
  }
}

/** When a sleep of it was over, where it was. */
function sleptUntil({ askings }: LogBook, { id, until }: SleepPending): readonly number[] {
  return askings.fired.has(id) ? [until] : [];
}

/** Answers as the log says; what was never answered waits. A denial for the run answers what came after it, as it did. */
function portOf({ answers, denied }: LogBook): ApprovalPort {
  const forRun = new Map<string, DecisionRecord>();
  return {
    async request({ callId, tool }) {
      const decision =
        answers.get(callId)?.answer.decision ?? forRun.get(tool) ?? deniedAs(denied, callId);
      if (decision === undefined) return { status: "pending" };
      if (decision.forRun === true) forRun.set(tool, decision);
      return { status: "decided", decision };
    },
  };
}

/** A denial that its log tells of by the call's end alone. */
function deniedAs(denied: ReadonlySet<string>, callId: string): DecisionRecord | undefined {
  return denied.has(callId) ? { approved: false, by: requester(), at: 0 } : undefined;
}
