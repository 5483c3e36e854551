import type { ActorRef } from "@holdpoint/approvals";
import { toolFacts } from "@holdpoint/tools";

import {
  isVouched,
  sealedText,
  takeOpened,
  vouch,
  type Checkpoint,
} from "../checkpoint/checkpoint.ts";
import {
  carriedOver,
  checkInputs,
  checkPhase,
  checkState,
  checkSeal,
  openCheckpoint,
  tampered,
  terminal,
  type Opened,
} from "../checkpoint/open.ts";
import { checkpointOf } from "../checkpoint/seal.ts";
import { FlowError, GraphRunExistsError, isFlowError } from "../errors.ts";
import { graphOf, type Flow, type FlowInput, type Graph } from "../graph/flow.ts";
import type { NodeSpec, State } from "../graph/node.ts";
import { runIdPattern } from "../limits.ts";
import { isOneReply, type Reply } from "./answers.ts";
import type { EventOf, RunEvent } from "./event.ts";
import { cancelRun } from "./cancel.ts";
import { begin, fold } from "./fold.ts";
import { forkOf } from "./fork.ts";
import { readLog, readRun, readSince, type Replayed } from "./history.ts";
import { RunReading } from "./run-reading.ts";
import { LiveRun, neverAborted } from "./live.ts";
import type { RunNotice } from "./notice.ts";
import { checkOptions, resolveOptions, type FlowRunnerOptions, type Resolved } from "./options.ts";
import { openWaits } from "./pending.ts";
import { perform, type Performed } from "./perform.ts";
import { recover } from "./recover.ts";
import { checkRevision } from "./reopen.ts";
import { planResume, type ResumePlan } from "./resume-plan.ts";
import { resultOf, type RunResult } from "./result.ts";
import { spendAnswers } from "./resume.ts";
import { usedBefore } from "./spent.ts";
import { checkFailed, standToRetry } from "./retry-stand.ts";
import type { RunState } from "./state.ts";
import { pendingId } from "./wait.ts";

export interface RunOptions {
  /** Default: a new random one. 1 to 128 of `A-Z a-z 0-9 . _ : -`. */
  readonly runId?: string;
  /** Who asked for the run: sealed with it, for rules that exclude the requester. */
  readonly requestedBy?: ActorRef;
  /** Stops between rounds and tells running tools. */
  readonly signal?: AbortSignal;
}

export interface ResumeOptions {
  readonly signal?: AbortSignal;
  /** The run that a checkpoint has to be of; another one is refused. */
  readonly runId?: string;
  /**
   * What becomes of the questions of a node's code that this resume leaves unanswered: they stay as they are (`keep`, the
   * default), or are withdrawn and asked again under new ids (`supersede`).
   */
  readonly unanswered?: "keep" | "supersede";
  /** The run's log as `read` has just read it, so that it is not read again; for runs that are named by their id. */
  readonly reading?: RunReading | undefined;
}

export interface RetryOptions {
  readonly signal?: AbortSignal;
  /** Who asked for it, for the history. */
  readonly by?: ActorRef;
}

export interface CancelHow {
  /** Kept in the history; 512 characters at most. */
  readonly reason: string;
  readonly by?: ActorRef;
}

/** What came of loading a checkpoint. */
type Loaded = { readonly graph: Graph; readonly opened: Opened };

/** Runs flows, and goes on with them where they stood. Holds no run: what it needs is in the checkpoint or the log. */
export class FlowRunner {
  readonly #resolved: Resolved;
  /** Stands for this runner where a checkpoint says who made or verified its seal: that need not be done again. */
  readonly #mark = {};

  /** @throws FlowError `key-required` */
  constructor(options: FlowRunnerOptions = {}) {
    this.#resolved = resolveOptions(options);
  }

  /**
   * Starts a run and performs it until it completes or pauses. Without a log it lives in this call and in the checkpoint;
   * with one, every step is on record before its effects.
   *
   * @throws FlowError `input-invalid`, `no-approver`, `run-exists`; and whatever ends the run: `node-failed` with the causes,
   *   `approval-denied`, `state-not-sealable`, `aborted`, `revision-conflict`, `store-unavailable` …
   */
  async run<F extends Flow>(
    flow: F,
    input: FlowInput<F>,
    options: RunOptions = {},
  ): Promise<RunResult<F>> {
    const graph = graphOf(flow);
    checkOptions(options, ["runId", "requestedBy", "signal"]);
    const { parts, settings, scope } = this.#resolved;
    const { requestedBy, signal = neverAborted } = options;
    const runId = this.#runId(options);
    this.#checkApprover(graph);
    const event: EventOf<"run-started"> = {
      type: "run-started",
      at: parts.clock.now(),
      seed: {
        runId,
        scope,
        flow: graph.name,
        digest: graph.digest,
        manifest: graph.manifest,
        settings: { ...settings, nodeVisits: graph.nodeVisits },
        requestedBy,
      },
      start: graph.start,
      state: started(graph, input),
    };
    return this.#begun(new LiveRun({ graph, parts, state: begin(event), signal, queued: [event] }));
  }

  /**
   * Goes on with a paused run. `reply` is `approve(…)`, `deny(…)`, `answer(…)` or `replies({ id: … })`; nothing, where the port's records
   * hold the decisions. Everything that can be checked is checked before anything is spent.
   *
   * A run that waits for more people, or whose records hold no decision yet, comes back paused as it was.
   * @throws FlowError `checkpoint-tampered`, `graph-mismatch`, `graph-version-mismatch`, `graph-run-mismatch`,
   *   `resume-terminal`, `no-approver`, `answer-ambiguous`, `answer-unknown`, `answer-invalid`, `edits-not-allowed`; ApprovalAlreadyDecided; and as `run`
   */
  async resume<F extends Flow>(
    flow: F,
    checkpoint: Checkpoint | string,
    reply?: Reply,
    options: ResumeOptions = {},
  ): Promise<RunResult<F>> {
    const graph = graphOf(flow);
    checkOptions(options, ["signal", "runId", "unanswered", "reading"]);
    const signal = options.signal ?? neverAborted;
    const { reading, runId: asked } = options;
    const live = await this.#standing(graph, checkpoint, signal, { asked, reading });
    const { runId } = live.state.seed;
    checkPhase(runId, live.state.phase);
    if (live.mac !== undefined && usedBefore(live.mac) === "cancelled")
      throw terminal(runId, "cancelled");
    if (typeof checkpoint === "string" && isOneReply(reply)) throw bareAnswer(live);
    checkInputs(graph, live.state, live.parts);
    if (live.durable) await recover(live);
    const goesOn = await spendAnswers(live, reply, options.unanswered ?? "keep");
    if (!goesOn && live.durable) return this.#result(live, await perform(live));
    if (!goesOn && typeof checkpoint !== "string")
      return this.#result(live, {
        status: "paused",
        text: sealedText(checkpoint)!,
        sealed: live.opened,
      });
    return this.#result(live, await perform(live));
  }

  /**
   * A new run that stands where a paused one waits: what is finished stays finished, and what waits is asked again, under
   * ids of the new run. It shares nothing with the other one, which waits as before and can be forked any number of times.
   *
   * It comes back as `run` does: paused at what was asked again, or gone on where the port decided at once.
   * @throws FlowError `not-paused`, and as `resume` before it spends and `run` at its start
   */
  async fork<F extends Flow>(
    flow: F,
    checkpoint: Checkpoint | string,
    options: RunOptions = {},
  ): Promise<RunResult<F>> {
    const graph = graphOf(flow);
    checkOptions(options, ["runId", "requestedBy", "signal"]);
    const runId = this.#runId(options);
    this.#checkApprover(graph);
    const { parts } = this.#resolved;
    const other =
      typeof checkpoint === "string"
        ? await this.#reopened(graph, checkpoint, neverAborted)
        : this.#portable(graph, this.#opened(graph, checkpoint, undefined), neverAborted);
    const was = other.state;
    checkPhase(was.seed.runId, was.phase);
    const { requestedBy = was.seed.requestedBy, signal = neverAborted } = options;
    const [started, forked] = forkOf(was, {
      revision: other.opened?.revision ?? was.revision,
      seed: { ...was.seed, runId, requestedBy },
      start: graph.start,
      at: parts.clock.now(),
    });
    const state = begin(started);
    fold(state, forked);
    checkInputs(graph, state, parts);
    return this.#begun(new LiveRun({ graph, parts, state, signal, queued: [started, forked] }));
  }

  /**
   * Goes on with a durable run whose process died. What is journaled is not run again; a waiting run stays waiting.
   * @throws FlowError `run-not-found`, `checkpoint-tampered`, `graph-version-mismatch`, `in-doubt`, `revision-conflict` …
   */
  async adopt<F extends Flow>(
    flow: F,
    runId: string,
    options: ResumeOptions = {},
  ): Promise<RunResult<F>> {
    const graph = graphOf(flow);
    const { signal = neverAborted, reading } = options;
    const live = await this.#reopened(graph, runId, signal, reading);
    const { phase } = live.state;
    if (phase.is === "ended" && phase.how === "completed")
      return resultOf(live, { status: "completed" });
    checkPhase(runId, phase);
    await recover(live);
    return this.#result(live, await perform(live));
  }

  /**
   * Goes on with a durable run that failed, under its id: what finished stays finished and is not run again, what failed is
   * attempted anew, and what waited or was denied is asked again (WF-29). Budgets, counters and idempotency keys go on.
   *
   * `retried` in the history says so, in one commit; from then on the run is under way, for `adopt` too.
   * @throws FlowError `not-failed` for a run that is under way or waits, `resume-terminal` for one that is completed or
   *   cancelled; as `adopt` before that commit, and as `run` after it
   */
  async retry<F extends Flow>(
    flow: F,
    runId: string,
    options: RetryOptions = {},
  ): Promise<RunResult<F>> {
    const graph = graphOf(flow);
    checkOptions(options, ["signal", "by"]);
    this.#checkApprover(graph);
    const { parts, scope } = this.#resolved;
    const replayed = await readRun(graph, parts, scope, runId);
    checkFailed(replayed.state);
    const { events } = await readLog(graph, parts, scope, runId);
    const retried = { at: parts.clock.now(), by: options.by, ...standToRetry(events) };
    const { signal = neverAborted } = options;
    const live = this.#logged(graph, replayed, signal, { type: "run-retried", ...retried });
    await live.flush();
    return this.#result(live, await perform(live));
  }

  /**
   * The text of a checkpoint, for any storage. What could not be loaded again under this runner's keys is refused now.
   * @throws FlowError `checkpoint-tampered`
   */
  dumpCheckpoint(checkpoint: Checkpoint): string {
    const text = sealedText(checkpoint);
    if (text === undefined) throw tampered(undefined, "it holds no sealed bytes");
    if (!isVouched(checkpoint, { text, by: this.#mark })) checkSeal(text, this.#resolved.parts);
    return text;
  }

  /** A checkpoint from its text: seal, graph and classes are checked before anything is built. @throws as `resume` */
  loadCheckpoint<F extends Flow>(flow: F, text: string): Checkpoint<F> {
    const graph = graphOf(flow);
    if (typeof text !== "string") throw tampered(undefined, "it is no text");
    const { parts, scope } = this.#resolved;
    const opened = openCheckpoint(graph, parts, text, { scope });
    const look = () => openCheckpoint(graph, parts, text, { scope }).state.state;
    const checkpoint = checkpointOf(opened.state, text, look);
    vouch(checkpoint, { text, by: this.#mark, opened: { graph, opened } satisfies Loaded });
    return checkpoint as Checkpoint<F>;
  }

  /**
   * Ends a paused run: what waits is withdrawn (`cancelled`). Repeated, it says the same.
   * @throws FlowError `resume-terminal` for a completed or failed run, and for a checkpoint that was resumed
   */
  async cancel(flow: Flow, checkpoint: Checkpoint | string, how: CancelHow): Promise<void> {
    await cancelRun(await this.#standing(graphOf(flow), checkpoint, neverAborted), how);
  }

  /**
   * What a resume would do with each node, were it called now without an answer: keep, re-run or blocked, and why. Runs
   * nothing and spends nothing. @throws as `resume` would before it spends
   */
  async plan(flow: Flow, checkpoint: Checkpoint | string): Promise<ResumePlan> {
    const live = await this.#standing(graphOf(flow), checkpoint, neverAborted);
    checkPhase(live.state.seed.runId, live.state.phase);
    checkInputs(live.graph, live.state, live.parts);
    return planResume(live);
  }

  /**
   * What happens to a run from this call on, until it pauses or ends in this process; ids and paths, no data (FLOW-08).
   * Begin before `run`, `resume` or `adopt` is called to see everything.
   */
  watch(runId: string): AsyncIterableIterator<RunNotice, void, undefined> {
    return this.#resolved.parts.telling.watch(runId);
  }

  /**
   * Everything that happened to a durable run, in order, verified (FLOW-74). `after`: what happened after that revision, read
   * from the newest snapshot on where one is old enough, as `adopt` does. @throws as `adopt`
   */
  async history(
    flow: Flow,
    runId: string,
    { after = 0 }: { readonly after?: number } = {},
  ): Promise<readonly RunEvent[]> {
    const { parts, scope } = this.#resolved;
    const graph = graphOf(flow);
    if (after > 0) return (await readSince(graph, parts, { scope, runId, after })).events;
    return (await readLog(graph, parts, scope, runId)).events;
  }

  /** As `history`, and what `adopt` or `resume` goes on from without reading the log again. @throws as `adopt` */
  async read(
    flow: Flow,
    runId: string,
    { after = 0 }: { readonly after?: number } = {},
  ): Promise<RunReading> {
    const { parts, scope } = this.#resolved;
    const graph = graphOf(flow);
    const { goOn, ...read } = await readSince(graph, parts, { scope, runId, after });
    const { keyring } = parts;
    return new RunReading(read, { graph, keyring, scope, runId }, goOn);
  }

  /** The id of a run that begins. @throws FlowError `input-invalid` */
  #runId({ runId = this.#resolved.parts.ids.id() }: RunOptions): string {
    if (typeof runId === "string" && runIdPattern.test(runId)) return runId;
    throw new FlowError("input-invalid", "a run id is 1 to 128 of A-Z a-z 0-9 . _ : -");
  }

  /** Performs a run from its first event on. @throws GraphRunExistsError */
  async #begun<F extends Flow>(live: LiveRun): Promise<RunResult<F>> {
    try {
      await live.flush();
    } catch (error) {
      if (!isFlowError(error, "revision-conflict")) throw error;
      const { runId } = live.state.seed;
      const message = `there is a run ${runId} already`;
      throw new GraphRunExistsError("run-exists", message, { runId }, error);
    }
    return this.#result(live, await perform(live));
  }

  #result<F extends Flow>(live: LiveRun, performed: Performed): RunResult<F> {
    const result = resultOf<F>(live, performed);
    if (result.status === "paused" && performed.status === "paused")
      vouch(result.checkpoint, { text: performed.text, by: this.#mark });
    return result;
  }

  /** A run as it stands: of a checkpoint, or of the log by its id. */
  #standing(
    graph: Graph,
    from: Checkpoint | string,
    signal: AbortSignal,
    how: { readonly asked?: string | undefined; readonly reading?: RunReading | undefined } = {},
  ): Promise<LiveRun> {
    return typeof from === "string"
      ? this.#reopened(graph, from, signal, how.reading)
      : this.#passedBack(graph, from, signal, how.asked);
  }

  /** A checkpoint that is passed back. Where its run is in this runner's log, it goes on there, from that revision. */
  async #passedBack(
    graph: Graph,
    checkpoint: Checkpoint,
    signal: AbortSignal,
    asked: string | undefined,
  ): Promise<LiveRun> {
    const opened = this.#opened(graph, checkpoint, asked);
    const { parts, scope } = this.#resolved;
    const { seed, revision } = opened.state;
    if (parts.log === undefined || (await parts.log.head(scope, seed.runId)) === 0)
      return this.#portable(graph, opened, signal);
    const replayed = await readRun(graph, parts, scope, seed.runId);
    await checkRevision(replayed.state, revision, async () => {
      const { events } = await readLog(graph, parts, scope, seed.runId);
      return events;
    });
    return this.#logged(graph, replayed, signal);
  }

  /** Only its sealed bytes are believed. */
  #opened(graph: Graph, checkpoint: Checkpoint, runId: string | undefined): Opened {
    const text = sealedText(checkpoint);
    if (text === undefined) throw tampered(undefined, "it holds no sealed bytes");
    // What was decoded at loading is gone on from once, and only where the checkpoint still holds that text.
    const loaded = takeOpened(checkpoint, this.#mark) as Loaded | undefined;
    const known = loaded?.graph === graph ? loaded.opened : undefined;
    const { parts, scope } = this.#resolved;
    return openCheckpoint(graph, parts, text, { scope, runId }, known);
  }

  #portable(graph: Graph, { state, migrated, mac }: Opened, signal: AbortSignal): LiveRun {
    const parts = { ...this.#resolved.parts, log: undefined };
    return new LiveRun({ graph, parts, signal, mac, ...carried(state, migrated) });
  }

  async #reopened(
    graph: Graph,
    runId: string,
    signal: AbortSignal,
    reading?: RunReading,
  ): Promise<LiveRun> {
    const { parts, scope } = this.#resolved;
    const { keyring } = parts;
    const known = RunReading.taken(reading, { graph, keyring, scope, runId });
    return this.#logged(graph, known ?? (await readRun(graph, parts, scope, runId)), signal);
  }

  /** `first`: what happens to it now, before it is carried over to the graph as it is. */
  #logged(
    graph: Graph,
    { state, end, way, need }: Replayed,
    signal: AbortSignal,
    first?: RunEvent,
  ): LiveRun {
    const { parts } = this.#resolved;
    if (first !== undefined) fold(state, first);
    const { queued = [], ...going } = carried(state, carriedOver(graph, state, way, parts));
    checkState(graph, going.state);
    const all = first === undefined ? queued : [first, ...queued];
    return new LiveRun({ graph, parts, signal, end, need, ...going, queued: all });
  }

  /** FLOW-44: a flow that nobody could answer is refused at its start, not weeks later. */
  #checkApprover(graph: Graph): void {
    if (this.#resolved.parts.approvals !== undefined) return;
    for (const { name: flow, nodes } of graph.flows) {
      const asking = [...nodes.values()].find(({ spec }) => asks(spec));
      if (asking === undefined) continue;
      const node = asking.spec.name;
      throw new FlowError(
        "no-approver",
        `no one can answer: '${node}' asks for approval, and the runner has no approval port`,
        { flow, node },
      );
    }
  }
}

/** Whether a node by itself asks a person, as far as can be seen before it runs. */
function asks(spec: NodeSpec): boolean {
  if (spec.kind === "gate") return true;
  return (spec.kind === "call" || spec.kind === "map-call") && toolFacts(spec.tool).confirms;
}

/** What a run goes on from: where it is of an earlier graph, carried over, which goes on record with what comes next. */
function carried(
  state: RunState,
  migrated: EventOf<"migrated"> | undefined,
): Pick<ConstructorParameters<typeof LiveRun>[0], "state" | "opened" | "queued"> {
  if (migrated === undefined) return { state };
  const opened = { digest: state.seed.digest, revision: state.revision };
  fold(state, migrated);
  return { state, opened, queued: [migrated] };
}

/** The state that a run begins with; an input whose reading throws is no input (a getter, a proxy). */
function started(graph: Graph, input: unknown): State {
  try {
    return graph.state.start(input);
  } catch (error) {
    if (isFlowError(error)) throw error;
    throw new FlowError(
      "input-invalid",
      "the input could not be read: reading it threw",
      { flow: graph.name },
      error,
    );
  }
}

/**
 * A run that goes by its id moves on between looking and answering: a second click on one question would answer the next,
 * which nobody was shown.
 */
function bareAnswer(live: LiveRun): FlowError {
  const { runId } = live.state.seed;
  const ids = openWaits(live.state).flatMap(({ wait }) =>
    wait.kind === "sleep" ? [] : [pendingId(wait)],
  );
  const name =
    ids.length === 0
      ? "nothing waits in it now"
      : `name what is answered, replies({ "${ids.join('" or "')}": … })`;
  return new FlowError(
    "answer-ambiguous",
    `run ${runId} is named by its id, and may have moved on since somebody looked: ${name}, or pass the checkpoint that was shown`,
    { runId, ids },
  );
}
