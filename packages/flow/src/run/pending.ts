import { requestFromRedacted, requestOf, type ApprovalRequest } from "@holdpoint/approvals";
import { isSealError } from "@holdpoint/seal";

import type { AnswerBy } from "../graph/interrupt.ts";
import { untilOf } from "./deadlines.ts";
import { graphAround } from "./follows.ts";
import type { Kept } from "./journal.ts";
import type { LiveRun } from "./live.ts";
import { revealed } from "./reveal.ts";
import type { Frame, RunState, VisitState } from "./state.ts";
import { ownExecutions, type OpenExecution } from "./tree.ts";
import { askedBy, isOpen, pendingId, type ApprovalWait, type Wait, type Waiting } from "./wait.ts";

/** One thing that waits, without anything that only whoever answers it should see. */
export interface PendingView {
  readonly kind: Wait["kind"];
  /** What an answer names: the record's id where the port keeps one, else the call's. */
  readonly id: string;
  /** The visit that waits. */
  readonly path: string;
  /** What asks: the tool, `node:<flow>.<node>` for a gate, `ask:<name>` for an interrupt, `sleep`. */
  readonly tool: string;
  /** Of a sleep and of a question with a deadline: when it ends, in milliseconds since 1970. */
  readonly until?: number;
}

/** One thing that waits, as a paused result holds it. Its printed forms don't show what is asked about (APR-02). */
export type Pending = ApprovalPending | InterruptPending | InDoubtPending | SleepPending;

/** A call or a gate that waits for a decision. */
export interface ApprovalPending extends PendingView {
  readonly kind: "approval";
  readonly request: ApprovalRequest;
}

/** A question that waits for an answer. `info` is what whoever answers is shown; no printed form and no clone has it. */
export interface InterruptPending extends PendingView {
  readonly kind: "interrupt";
  /** The interrupt's name. */
  readonly name: string;
  readonly answerBy: AnswerBy;
  readonly info: unknown;
}

/** A call that was begun, and nobody knows whether it ran. No printed form and no clone has its arguments. */
export interface InDoubtPending extends PendingView {
  readonly kind: "in-doubt";
  /** Whether the code, run again, still asks for the call. */
  readonly asked: boolean;
  /** What it was begun with; `undefined` where they can't be read here. */
  readonly arguments: unknown;
}

/** A pause that a deadline ends: a resume at or after `until`, without an answer, goes on. */
export interface SleepPending extends PendingView {
  readonly kind: "sleep";
  readonly until: number;
}

/** What waits in a frame, the run's own by default, in node, item, call order, whoever's port answered first (FLOW-21). */
export function waitsOf(run: RunState, frame: Frame = run): Waiting[] {
  const found: Waiting[] = [];
  for (const visit of frame.visits) collect(run, visit, found);
  return found;
}

/** What waits in one visit. */
export function waitsIn(run: RunState, visit: VisitState): Waiting[] {
  const found: Waiting[] = [];
  collect(run, visit, found);
  return found;
}

function collect(run: RunState, visit: VisitState, into: Waiting[]): void {
  if (visit.status === "finished") return;
  for (const open of ownExecutions(visit))
    for (const waiting of waitsWithin(run, open)) into.push(waiting);
}

/** A nested run's waits stand where it was begun among what its execution asked for. */
export function waitsWithin(
  run: RunState,
  { path, execution: { waits, nested } }: OpenExecution,
): Waiting[] {
  if (nested.length === 0) return inOrder(waits).map((wait) => ({ path, wait }));
  const asked = [
    ...waits.map((wait) => ({ order: wait.order, within: [{ path, wait }] })),
    ...nested.map(({ order, path: inner }) => ({
      order,
      within: waitsOf(run, run.frames.get(inner)!),
    })),
  ];
  return inOrder(asked).flatMap(({ within }) => within);
}

function inOrder<T extends { readonly order: number }>(list: readonly T[]): readonly T[] {
  return list.length > 1 ? list.toSorted((a, b) => a.order - b.order) : list;
}

/** The waiting things that nobody answered yet. */
export function openWaits(run: RunState, frame: Frame = run): Waiting[] {
  return waitsOf(run, frame).filter(({ wait }) => isOpen(wait));
}

export function pendingView({ path, wait }: Waiting): PendingView {
  return {
    kind: wait.kind,
    id: pendingId(wait),
    path,
    tool: askedBy(wait),
    ...endingAt(wait),
  };
}

function endingAt(wait: Wait): { readonly until?: number } {
  const until = untilOf(wait);
  return until === undefined ? {} : { until };
}

/** A pending with what it asks. */
export function pendingOf(live: LiveRun, { path, wait }: Waiting): Pending {
  const { id, tool } = pendingView({ path, wait });
  switch (wait.kind) {
    case "approval":
      return { kind: "approval", id, path, tool, request: requestIn(live, path, wait) };
    case "interrupt": {
      const { answerBy } = wait;
      const { name } = wait.id;
      const info = shown(
        live,
        path,
        wait.info,
        graphAround(live, path).interrupts.get(name)?.info,
      )?.value;
      const asked = { kind: "interrupt" as const, id, path, tool, name, answerBy };
      return hiding({ ...asked, ...endingAt(wait) }, "info", info);
    }
    case "sleep":
      return { kind: "sleep", id, path, tool, until: wait.until };
    case "in-doubt": {
      const { asked, started } = wait;
      const args = shown(live, path, started.arguments)?.value;
      return hiding({ kind: "in-doubt", id, path, tool, asked }, "arguments", args);
    }
  }
}

/** The same with one more member, which a reader finds by its name alone. */
function hiding<T extends object, K extends string>(
  shows: T,
  name: K,
  value: unknown,
): T & Readonly<Record<K, unknown>> {
  const hidden = { ...shows };
  Object.defineProperty(hidden, name, { get: () => value, enumerable: false });
  return Object.freeze(hidden) as T & Readonly<Record<K, unknown>>;
}

/** Arguments that nobody here could decode are gone, as in any redacted form. */
function requestIn(live: LiveRun, path: string, wait: ApprovalWait): ApprovalRequest {
  const id = pendingId(wait);
  const { requestedAt, argumentsDigest, facts } = wait;
  const args = shown(live, path, wait.arguments);
  return args === undefined
    ? requestFromRedacted({ ...facts, id, requestedAt, argumentsDigest })
    : requestOf(
        { ...facts, arguments: args.value },
        { id, requestedAt, digest: () => argumentsDigest },
      );
}

/** What a person is shown, where the classes in it are within reach: a function node's tool is known to its code alone. */
function shown(
  live: LiveRun,
  node: string,
  kept: Kept,
  schema: unknown = live.graph.reachable,
): { readonly value: unknown } | undefined {
  const { parts, state } = live;
  const where = { runId: state.seed.runId, node };
  try {
    return { value: revealed(kept, parts.sealer, schema, where) };
  } catch (error) {
    if (isSealError(error, "class-not-allowed")) return undefined;
    throw error;
  }
}
