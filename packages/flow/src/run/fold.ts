/**
 * Events to state: pure but for its own `run`, runs no code of the user's, reads no clock.
 *
 * F1 `fold` is the only place that changes a `RunState`; every event counts one revision (FLOW-74).
 * F2 A finished visit's journal is dropped: nothing of it can be asked for again.
 * F3 Updates merge in declaration order when the round is routed, never earlier (FLOW-04, FLOW-11).
 */
import type { State } from "../graph/node.ts";
import type { EventOf, RunEvent, Verdict } from "./event.ts";
import { endOf } from "./deadlines.ts";
import { identityText } from "./identity.ts";
import {
  begunOf,
  freshExecution,
  isRetriable,
  newExecution,
  replacedKey,
  type Entry,
  type ExecutionState,
  type Kept,
  type Settled,
} from "./journal.ts";
import { frameAt, itemAt, openAt, openItem, openVisitAt, visitPath, wake } from "./path.ts";
import type { EndedItem, Frame, ItemState, NestedFrame, RunState, Stand } from "./state.ts";
import { framesIn, nestedIn } from "./tree.ts";
import type { InDoubtWait } from "./wait.ts";

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
    case "run-retried":
      run.phase = { is: "running" };
      return stand(run, event.stand);
    case "visit-started": {
      const visit = openVisitAt(run, event.visit);
      visit.inputs = event.inputs;
      if (event.inputs?.kind === "map") visit.items = queuedItems(event.inputs.count);
      run.phase = { is: "running" };
      return;
    }
    case "visit-waiting":
      openAt(run, event.visit).status = "waiting";
      return;
    case "settling":
      run.settling = { attemptId: event.attemptId, answers: event.answers };
      (run.announced ??= []).push(event.attemptId);
      return;
    case "answered":
      return foldAnswered(run, event);
    case "visit-finished":
      return foldFinished(run, event);
    case "item-finished":
    case "item-skipped":
      return foldItem(run, event);
    case "routed":
      return foldRouted(run, event, merged);
    case "paused":
      run.phase = { is: "paused" };
      return;
    case "completed":
      run.phase = { is: "ended", how: "completed" };
      run.visits = [];
      run.frames.clear();
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
      const { started } = execution(run, event.visit);
      const before = started.find((other) => same(other.id, id));
      remove(started, (other) => other === before);
      started.push({
        id,
        arguments: args,
        idempotent,
        ...(approval && { approval }),
        ...(before?.doubts !== undefined && { doubts: before.doubts }),
      });
      return;
    }
    case "call-finished": {
      finishCall(run, event, event.outcome);
      return;
    }
    case "call-unjournaled":
      finishCall(run, event, { ok: true, result: lostBy(event) });
      return;
    case "step-recorded":
      execution(run, event.visit).journal.push({ id: event.call, outcome: event.outcome });
      return;
    case "in-doubt":
      remove(execution(run, event.visit).started, ({ id }) => same(id, event.wait.started.id));
      execution(run, event.visit).waits.push(event.wait);
      return;
    case "nested-started":
      return beginNested(run, event);
    case "nested-finished": {
      const { call: id, outcome, visit, path } = event;
      execution(run, visit).journal.push({ id, outcome });
      if (path !== undefined) endNested(run, visit, path);
      return;
    }
    case "nested-dropped":
      return endNested(run, event.visit, event.path);
    case "approval-requested":
    case "interrupted":
    case "sleeping": {
      const { waits } = execution(run, event.visit);
      remove(waits, (wait) => wait.callId === event.wait.callId);
      waits.push(event.wait);
      return;
    }
    case "deadline-fired":
      return foldFired(run, event);
    case "superseded":
    case "answer-unused":
      return foldReplaced(run, event);
    case "retried": {
      // What had failed is asked for again; what had succeeded is replayed.
      const into = execution(run, event.visit);
      into.retries += 1;
      for (const [at, entry] of into.journal.entries())
        if (isRetriable(entry)) into.journal[at] = { ...entry, retried: true };
      return;
    }
    default:
      return; // told, and of no consequence for the state
  }
}

/** A nested run is a frame of its own, and a line in the execution that it is within. */
function beginNested(run: RunState, event: EventOf<"nested-started">): void {
  const { call: id, order, path, start, state, nodeVisits } = event;
  const into = execution(run, event.visit);
  into.nested.push({ id, order, path });
  into.begun[id.name] = begunOf(into, id.name) + 1;
  const frame: NestedFrame = {
    path,
    state,
    visits: [],
    held: [],
    endReached: false,
    visited: {},
    nodeVisits,
  };
  run.frames.set(path, frame);
  run.counters.rounds += 1;
  queue(frame, [start]);
}

/** What is left of a nested run that ended is its entry in the journal: the frame goes, and whatever is within it. */
function endNested(run: RunState, visit: string, path: string): void {
  const { nested } = execution(run, visit);
  const ended = nested.find((candidate) => candidate.path === path)!;
  remove(nested, (candidate) => candidate === ended);
  for (const frame of framesIn(run, ended)) run.frames.delete(frame.path);
}

function lostBy({ why, path }: EventOf<"call-unjournaled">): Kept {
  return { form: "lost", why, ...(path !== undefined && { path }) };
}

function finishCall(
  run: RunState,
  event: EventOf<"call-finished" | "call-unjournaled">,
  outcome: Settled,
): void {
  const { call: id, approval, cost } = event;
  const into = execution(run, event.visit);
  finishedCall(into, { id, outcome, ...(approval && { approval }) });
  run.counters.calls += 1;
  run.counters.cost += cost;
}

/** A call's end takes the place of all that stood of it. */
function finishedCall(into: ExecutionState, entry: Entry): void {
  const { id } = entry;
  into.journal.push(entry);
  if (into.waits.length > 0)
    remove(
      into.waits,
      (wait) => wait.kind === "approval" && wait.id !== undefined && same(wait.id, id),
    );
  if (into.started.length > 0) remove(into.started, (started) => same(started.id, id));
}

function foldReplaced(run: RunState, event: EventOf<"superseded" | "answer-unused">): void {
  const { waits, replaced } = execution(run, event.visit);
  const wait = waits.find((candidate) => candidate.callId === event.callId);
  remove(waits, (candidate) => candidate === wait);
  if (event.type !== "superseded" || !event.again) return;
  if (wait?.kind !== "approval") return;
  wake(run, event.visit);
  if (wait.id === undefined) return; // a gate asks anew by its inputs
  const key = replacedKey(wait.id);
  const generation = (replaced[key]?.generation ?? 0) + 1;
  replaced[key] = { generation, arguments: wait.arguments, rule: wait.facts.rule }; // FLOW-38, FLOW-66
}

function foldAnswered(run: RunState, event: EventOf<"answered">): void {
  for (const answer of event.answers) {
    const into = execution(run, answer.visit);
    const { waits, journal } = into;
    const wait = waits.find((candidate) => candidate.callId === answer.callId);
    if (wait === undefined) continue; // asked and answered at once, by a port that keeps records
    if (wait.kind === "approval" && answer.kind === "approval")
      wait.answer = { decision: answer.decision, attemptId: event.attemptId };
    if (wait.kind === "in-doubt" && answer.kind === "in-doubt")
      foldVerdict(run, into, wait, answer.verdict);
    if (wait.kind === "interrupt" && answer.kind === "interrupt") {
      const { id, cursor } = wait;
      remove(waits, (candidate) => candidate === wait);
      const outcome = { ok: true, result: answer.payload } as const;
      journal.push({ id, outcome, ...(cursor && { cursor }) }); // the code gets it like any outcome
    }
    wake(run, answer.visit); // FLOW-30: only executions that got an answer run again
  }
  run.settling = undefined;
  run.phase = { is: "running" };
}

/** What a deadline ends has an outcome like any other, and only what waited for it runs again. */
function foldFired(run: RunState, { visit, callId }: EventOf<"deadline-fired">): void {
  const { waits, journal } = execution(run, visit);
  const wait = waits.find((candidate) => candidate.callId === callId);
  if (wait?.kind !== "sleep" && wait?.kind !== "interrupt") return;
  const outcome = endOf(wait, visit);
  if (outcome === undefined) return;
  remove(waits, (candidate) => candidate === wait);
  const { id } = wait;
  const cursor = wait.kind === "interrupt" && wait.cursor;
  journal.push({ id, outcome, ...(cursor && { cursor }) });
  wake(run, visit);
  run.phase = { is: "running" };
}

/** FLOW-76: what a person said is the call's end, or lets it be entered. */
function foldVerdict(
  run: RunState,
  into: ExecutionState,
  wait: InDoubtWait,
  verdict: Verdict,
): void {
  const { started, asked } = wait;
  const { id, approval, doubts = 0 } = started;
  remove(into.waits, (candidate) => candidate === wait);
  if (verdict.is === "did-not-run") {
    into.started.push({ ...started, doubts: doubts + 1, mayRun: true });
    return;
  }
  const outcome: Settled =
    verdict.is === "ran"
      ? { ok: true, result: verdict.result }
      : { ok: false, error: verdict.error };
  const doubt = asked ? "asked" : "unasked";
  finishedCall(into, { id, outcome, ...(approval && { approval }), doubt });
  run.counters.calls += 1;
}

function foldFinished(run: RunState, event: EventOf<"visit-finished">): void {
  const { visits } = frameAt(run, event.visit);
  const index = visits.findIndex((visit) => visit.path === event.visit);
  const visit = visits[index]!;
  const { node, number, path } = visit;
  if (run.frames.size > 0)
    for (const nested of nestedIn(visit))
      for (const frame of framesIn(run, nested)) run.frames.delete(frame.path);
  visits[index] = { node, number, path, status: "finished", end: event.end }; // F2
}

/** An item's journal is dropped as a visit's is (F2); what its calls were allowed by stays until the visit is over. */
function foldItem(run: RunState, event: EventOf<"item-finished" | "item-skipped">): void {
  const { items, index } = itemAt(run, event.visit);
  const { journal, nested } = openItem(items, index, event.visit).execution;
  for (const cutOff of nested)
    for (const frame of framesIn(run, cutOff)) run.frames.delete(frame.path);
  const approvals = journal.flatMap(({ approval }) => (approval ? [approval] : []));
  items[index] = { ...(approvals.length > 0 && { approvals }), ...itemEnd(event) };
}

function itemEnd(event: EventOf<"item-finished" | "item-skipped">): EndedItem {
  if (event.type === "item-skipped")
    return { status: "failed", reason: event.reason, error: event.error };
  const { end } = event;
  if (end.ok) return { status: "finished", value: end.value };
  return { status: "failed", reason: "failed", error: end.error };
}

const queued: ItemState = Object.freeze({ status: "queued" });

function queuedItems(count: number): ItemState[] {
  return Array.from({ length: count }, () => queued);
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
  for (const visit of frame.visits)
    if (visit.status === "finished" && visit.end.ok) write(state, visit.end.update);
  write(state, reduced);
  return Object.freeze(state);
}

/** The same of a round of which only the updates are known. */
export function mergedFields(before: State, updates: readonly State[], reduced: State): State {
  const state: State = { ...before };
  for (const update of updates) write(state, update);
  write(state, reduced);
  return state;
}

/** FLOW-13: `undefined` removes an optional field. */
function write(state: State, fields: State): void {
  for (const field of Object.keys(fields)) {
    const value = fields[field];
    if (value === undefined) delete state[field];
    else state[field] = value;
  }
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

/** What is on record of an execution, to be written to. */
function execution(run: RunState, path: string): ExecutionState {
  const open = openAt(run, path);
  if (open.execution === freshExecution) open.execution = newExecution();
  return open.execution;
}

function same(
  a: Parameters<typeof identityText>[0],
  b: Parameters<typeof identityText>[0],
): boolean {
  return a === b || (a.name === b.name && identityText(a) === identityText(b));
}

function remove<T>(list: T[], which: (item: T) => boolean): void {
  for (let index = list.length - 1; index >= 0; index--) {
    if (!which(list[index]!)) continue;
    list.splice(index, 1);
    return;
  }
}
