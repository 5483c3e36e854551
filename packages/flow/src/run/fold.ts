/**
 * Events to state: pure but for its own `run`, runs no code of the user's, reads no clock.
 *
 * F1 `fold` is the only place that changes a `RunState`; every event counts one revision (FLOW-74).
 * F2 A finished visit's journal is dropped: nothing of it can be asked for again.
 * F3 Updates merge in declaration order when the round is routed, never earlier (FLOW-04, FLOW-11).
 */
import type { State } from "../graph/node.ts";
import type { EventOf, RunEvent } from "./event.ts";
import { identityText } from "./identity.ts";
import {
  freshExecution,
  newExecution,
  replacedKey,
  type ExecutionState,
  type Settled,
} from "./journal.ts";
import { frameAt, openVisitAt, visitPath } from "./path.ts";
import type { Frame, RunState, Stand } from "./state.ts";

/** The state after the first event. */
export function begin(event: EventOf<"run-started">): RunState {
  const run: RunState = {
    seed: event.seed,
    startedAt: event.at,
    revision: 1,
    phase: { is: "routed" },
    state: event.state,
    visits: [],
    held: [],
    visited: {},
    counters: { rounds: 1, calls: 0, cost: 0 },
    settling: undefined,
    endReached: false,
    frames: new Map(),
    path: "",
  };
  queue(run, [event.start]);
  return run;
}

/** Takes one more event in. `merged`: the state that `routed` leads to, where the caller has just made it. */
export function fold(run: RunState, event: RunEvent, merged?: State): void {
  run.revision += 1; // F1
  switch (event.type) {
    case "forked":
      run.counters.rounds = event.rounds;
      run.phase = { is: "running" };
      return stand(run, event.stand);
    case "migrated":
      run.seed = event.seed;
      return stand(run, event.stand);
    case "visit-started": {
      const visit = openVisitAt(run, event.visit);
      visit.inputs = event.inputs;
      run.phase = { is: "running" };
      return;
    }
    case "visit-waiting":
      openVisitAt(run, event.visit).status = "waiting";
      return;
    case "settling":
      run.settling = { attemptId: event.attemptId, answers: event.answers };
      (run.announced ??= []).push(event.attemptId);
      return;
    case "answered":
      return foldAnswered(run, event);
    case "visit-finished":
      return foldFinished(run, event);
    case "routed":
      return foldRouted(run, event, merged);
    case "paused":
      run.phase = { is: "paused" };
      return;
    case "completed":
      run.phase = { is: "ended", how: "completed" };
      run.visits = [];
      return;
    case "failed":
      run.phase = { is: "ended", how: "failed", error: event.error, node: event.node };
      return;
    case "cancelled":
      run.phase = { is: "ended", how: "cancelled", reason: event.reason };
      return;
    default:
      return foldExecution(run, event);
  }
}

/** Everything about where the run stands is what the event says; the event gives it away (F1). */
function stand(run: RunState, { state, visits, held, endReached, visited, frames }: Stand): void {
  Object.assign(run, { state, visits, held, endReached, visited, frames });
}

/** What happens inside one execution. */
function foldExecution(run: RunState, event: RunEvent): void {
  switch (event.type) {
    case "call-started": {
      const { call: id, arguments: args, idempotent, approval } = event;
      execution(run, event.visit).started.push({
        id,
        arguments: args,
        idempotent,
        ...(approval && { approval }),
      });
      return;
    }
    case "call-finished": {
      finishCall(run, event, event.outcome);
      return;
    }
    case "call-unjournaled":
      finishCall(run, event, { ok: true, result: { form: "lost", why: event.why } });
      return;
    case "step-recorded":
      execution(run, event.visit).journal.push({ id: event.call, outcome: event.outcome });
      return;
    case "approval-requested":
    case "interrupted": {
      const { waits } = execution(run, event.visit);
      remove(waits, (wait) => wait.callId === event.wait.callId);
      waits.push(event.wait);
      return;
    }
    case "superseded":
    case "answer-unused":
      return foldReplaced(run, event);
    case "retried": {
      // What had failed is asked for again; what had succeeded is replayed.
      const into = execution(run, event.visit);
      into.retries += 1;
      remove(into.journal, (entry) => !entry.outcome.ok, true);
      return;
    }
    default:
      return; // told, and of no consequence for the state
  }
}

function finishCall(
  run: RunState,
  event: EventOf<"call-finished" | "call-unjournaled">,
  outcome: Settled,
): void {
  const { call: id, approval, cost } = event;
  const into = execution(run, event.visit);
  into.journal.push({ id, outcome, ...(approval && { approval }) });
  if (into.waits.length > 0)
    remove(
      into.waits,
      (wait) => wait.kind === "approval" && wait.id !== undefined && same(wait.id, id),
    );
  if (into.started.length > 0) remove(into.started, (started) => same(started.id, id));
  run.counters.calls += 1;
  run.counters.cost += cost;
}

function foldReplaced(run: RunState, event: EventOf<"superseded" | "answer-unused">): void {
  const visit = openVisitAt(run, event.visit);
  const { waits, replaced } = execution(run, event.visit);
  const wait = waits.find((candidate) => candidate.callId === event.callId);
  remove(waits, (candidate) => candidate === wait);
  if (event.type !== "superseded" || !event.again) return;
  if (wait?.kind !== "approval" || wait.id === undefined) return;
  const key = replacedKey(wait.id);
  const generation = (replaced[key]?.generation ?? 0) + 1;
  replaced[key] = { generation, arguments: wait.arguments, rule: wait.facts.rule }; // FLOW-38, FLOW-66
  visit.status = "ready";
}

function foldAnswered(run: RunState, event: EventOf<"answered">): void {
  for (const answer of event.answers) {
    const visit = openVisitAt(run, answer.visit);
    const { waits, journal } = visit.execution;
    const wait = waits.find((candidate) => candidate.callId === answer.callId);
    if (wait === undefined) continue; // asked and answered at once, by a port that keeps records
    if (wait.kind === "approval" && answer.kind === "approval")
      wait.answer = { decision: answer.decision, attemptId: event.attemptId };
    if (wait.kind === "interrupt" && answer.kind === "interrupt") {
      const { id, cursor } = wait;
      remove(waits, (candidate) => candidate === wait);
      const outcome = { ok: true, result: answer.payload } as const;
      journal.push({ id, outcome, ...(cursor && { cursor }) }); // the code gets it like any outcome
    }
    visit.status = "ready"; // FLOW-30: only executions that got an answer run again
  }
  run.settling = undefined;
  run.phase = { is: "running" };
}

function foldFinished(run: RunState, event: EventOf<"visit-finished">): void {
  const { visits } = frameAt(run, event.visit);
  const index = visits.findIndex((visit) => visit.path === event.visit);
  const { node, number, path } = visits[index]!;
  visits[index] = { node, number, path, status: "finished", end: event.end }; // F2
}

function foldRouted(run: RunState, event: EventOf<"routed">, merged: State | undefined): void {
  const frame = event.frame === undefined ? run : run.frames.get(event.frame)!;
  frame.state = merged ?? mergedState(frame, event.reduced);
  frame.endReached ||= event.ended;
  run.counters.rounds += 1;
  if (frame === run) run.phase = { is: "routed" };
  frame.visits = [];
  frame.held = event.held ?? [];
  queue(frame, event.next);
}

/** F3: the state after a round, given the fields that reducers made of it. */
export function mergedState(frame: Frame, reduced: State): State {
  const state: State = { ...frame.state };
  for (const visit of frame.visits) {
    if (visit.status !== "finished" || !visit.end.ok) continue;
    const { update } = visit.end;
    for (const field of Object.keys(update)) {
      const value = update[field];
      if (value === undefined) delete state[field]; // FLOW-13: `undefined` removes an optional field
      else state[field] = value;
    }
  }
  for (const field of Object.keys(reduced)) {
    if (reduced[field] === undefined) delete state[field];
    else state[field] = reduced[field];
  }
  return Object.freeze(state);
}

function queue(frame: Frame, nodes: readonly string[]): void {
  for (const node of nodes) {
    // A node may be called `constructor`: only own members count.
    const before = Object.hasOwn(frame.visited, node) ? frame.visited[node]! : 0;
    const number = before + 1;
    frame.visited[node] = number;
    frame.visits.push({
      node,
      number,
      path: visitPath(frame, node, number),
      status: "ready",
      inputs: undefined,
      execution: freshExecution,
    });
  }
}

/** What is on record of a visit's execution, to be written to. */
function execution(run: RunState, path: string): ExecutionState {
  const visit = openVisitAt(run, path);
  if (visit.execution === freshExecution) visit.execution = newExecution();
  return visit.execution;
}

function same(
  a: Parameters<typeof identityText>[0],
  b: Parameters<typeof identityText>[0],
): boolean {
  return a === b || (a.name === b.name && identityText(a) === identityText(b));
}

function remove<T>(list: T[], which: (item: T) => boolean, all = false): void {
  for (let index = list.length - 1; index >= 0; index--) {
    if (!which(list[index]!)) continue;
    list.splice(index, 1);
    if (!all) return;
  }
}
