/**
 * Where a failed run goes on from when it is retried (WF-29, FLOW-60). Pure: made of the run's events alone, nothing is run.
 *
 * T1 What is finished stays finished: nodes, items, and the calls, steps and answers that a failed visit has on record, which
 *    are replayed. What had failed is marked, kept, and attempted anew: calls, items and nested runs, at whatever depth.
 * T2 What a person said of a call in doubt stands, a failure too (FLOW-76). A call that had begun and has no end is in doubt.
 * T3 What waited was withdrawn when the run failed, and is asked again, of whoever the flow asks: approvals under new ids, with
 *    what was shown and gated as it was (FLOW-35, FLOW-66); what was denied, or approved for a call that failed, as well. No
 *    answer of before the retry allows a call that had not begun.
 * T4 Counters, budgets, paths and numbers go on as they were: a repeated call has its idempotency key again (TOOL-08).
 *
 * The fold drops what a visit, an item or a nested run that failed had on record, for nobody but a retry can ask for it; so
 * the log is folded once more here, and what the fold is about to drop is kept beside it.
 */
import { terminal } from "../checkpoint/open.ts";
import { FlowError } from "../errors.ts";
import type { EventOf, RunEvent } from "./event.ts";
import { begin, fold } from "./fold.ts";
import { identityText, type Identity } from "./identity.ts";
import {
  freshExecution,
  isRetriable,
  replacedKey,
  type Entry,
  type ExecutionState,
  type NestedRun,
  type Replaced,
} from "./journal.ts";
import { itemPath, openAt, openVisitAt } from "./path.ts";
import type { Frame, ItemState, NestedFrame, OpenVisit, RunState, Stand } from "./state.ts";
import { framesIn, nestedIn } from "./tree.ts";

/** Something that failed and is attempted anew: the visit that it was in, and what it was. */
export interface Again {
  readonly visit: string;
  readonly name: string;
}

/** @throws FlowError `not-failed`, `resume-terminal` */
export function checkFailed({ phase, seed }: RunState): void {
  const { runId, flow } = seed;
  if (phase.is !== "ended") {
    const message = `run ${runId} has not failed: there is nothing to retry`;
    throw new FlowError("not-failed", message, { runId, flow });
  }
  if (phase.how !== "failed") throw terminal(runId, phase.how);
}

/** The stand of a retry, and what is attempted anew. `events`: all of the run's, the failure last; given up to it. */
export function standToRetry(events: readonly RunEvent[]): {
  readonly stand: Stand;
  readonly again: readonly Again[];
} {
  const dropped = new Dropped();
  const [first, ...rest] = events;
  const run = begin(first as EventOf<"run-started">); // no other log was opened
  for (const event of rest) {
    dropped.keep(run, event);
    fold(run, event);
  }
  return new Restoring(run, dropped).stand();
}

/** What the fold drops of things that failed, by their paths. */
class Dropped {
  readonly visits = new Map<string, OpenVisit>();
  readonly items = new Map<string, ExecutionState>();
  readonly frames = new Map<string, NestedFrame>();
  /** Nested runs that failed, by the call that began them. */
  readonly nested = new Map<string, NestedRun>();
  /** What was shown for calls that failed, by the call. */
  readonly shown = new Map<string, Omit<Replaced, "generation">>();

  /** Looks at what an event is about to drop. */
  keep(run: RunState, event: RunEvent): void {
    switch (event.type) {
      case "visit-finished": {
        if (event.end.ok || event.end.via !== undefined) return;
        const visit = openVisitAt(run, event.visit);
        this.visits.set(event.visit, visit);
        for (const nested of nestedIn(visit)) this.#keepFrames(run, nested);
        return;
      }
      case "item-skipped":
        return this.#keepItem(run, event.visit);
      case "item-finished":
        if (!event.end.ok) this.#keepItem(run, event.visit);
        return;
      case "nested-finished": {
        const key = callKey(event.visit, event.call);
        this.nested.delete(key);
        if (event.outcome.ok || event.path === undefined) return;
        const { nested } = openAt(run, event.visit).execution;
        const failed = nested.find(({ path }) => path === event.path)!;
        this.nested.set(key, failed);
        return this.#keepFrames(run, failed);
      }
      case "call-finished":
        if (!event.outcome.ok) this.#keepShown(run, event.visit, event.call);
        return;
      default:
        return;
    }
  }

  #keepItem(run: RunState, path: string): void {
    const { execution } = openAt(run, path);
    this.items.set(path, execution);
    for (const nested of execution.nested) this.#keepFrames(run, nested);
  }

  #keepFrames(run: RunState, nested: NestedRun): void {
    for (const frame of framesIn(run, nested)) this.frames.set(frame.path, frame);
  }

  #keepShown(run: RunState, visit: string, call: Identity): void {
    const text = identityText(call);
    for (const wait of openAt(run, visit).execution.waits) {
      if (wait.kind !== "approval" || wait.id === undefined || identityText(wait.id) !== text)
        continue;
      this.shown.set(callKey(visit, call), { arguments: wait.arguments, rule: wait.facts.rule });
    }
  }
}

function callKey(visit: string, call: Identity): string {
  return `${visit} ${identityText(call)}`;
}

/** Puts a failed run together again, from its fold and what that dropped. */
class Restoring {
  readonly #run: RunState;
  readonly #dropped: Dropped;
  readonly #frames = new Map<string, NestedFrame>();
  readonly #again: Again[] = [];

  constructor(run: RunState, dropped: Dropped) {
    this.#run = run;
    this.#dropped = dropped;
  }

  stand(): { stand: Stand; again: readonly Again[] } {
    const stand = { ...this.#frame(this.#run), frames: this.#frames };
    return { stand, again: this.#again };
  }

  #frame({ path, state, visits, held, endReached, visited }: Frame): Frame {
    return { path, state, held, endReached, visited, visits: visits.map((v) => this.#visit(v)) };
  }

  #visit(visit: Frame["visits"][number]): Frame["visits"][number] {
    if (visit.status !== "finished") return this.#open(visit);
    if (visit.end.ok || visit.end.via !== undefined) return visit; // T1
    const { path, node } = visit;
    this.#again.push({ visit: path, name: node });
    return this.#open(this.#dropped.visits.get(path)!);
  }

  #open({ node, number, path, inputs, execution, items }: OpenVisit): OpenVisit {
    const again = { node, number, path, status: "ready" as const, inputs };
    const own = this.#execution(path, execution);
    if (items === undefined) return { ...again, execution: own };
    return { ...again, execution: own, items: items.map((item, at) => this.#item(path, item, at)) };
  }

  #item(visit: string, item: ItemState, index: number): ItemState {
    if (item.status === "queued" || item.status === "finished") return item;
    const path = itemPath(visit, index);
    if (item.status !== "failed") {
      return { status: "ready", execution: this.#execution(path, item.execution) };
    }
    this.#again.push({ visit: path, name: item.reason });
    const execution = this.#dropped.items.get(path) ?? freshExecution;
    return { status: "ready", execution: this.#execution(path, execution) };
  }

  #execution(visit: string, was: ExecutionState): ExecutionState {
    if (was === freshExecution) return was;
    const replaced = { ...was.replaced };
    const started = [...was.started];
    const nested = [...was.nested];
    const ask = (id: Identity, shown: Omit<Replaced, "generation">): void => {
      const key = replacedKey(id);
      replaced[key] = { ...shown, generation: (replaced[key]?.generation ?? 0) + 1 }; // T3
    };
    for (const wait of was.waits) {
      if (wait.kind === "in-doubt") started.push(wait.started); // T2
      if (wait.kind !== "approval" || wait.id === undefined) continue; // asked by its code once more
      ask(wait.id, { arguments: wait.arguments, rule: wait.facts.rule });
    }
    const journal = was.journal.map((entry) => {
      if (!isRetriable(entry)) return entry;
      this.#again.push({ visit, name: entry.id.name });
      const key = callKey(visit, entry.id);
      const shown = this.#dropped.shown.get(key);
      if (shown !== undefined) ask(entry.id, shown);
      const failed = this.#dropped.nested.get(key);
      if (entry.id.kind === "run" && failed !== undefined) nested.push(failed);
      return { ...entry, retried: true } as Entry;
    });
    for (const run of nested) this.#nested(run);
    const { begun, retries } = was;
    return { journal, waits: [], started, replaced, nested, begun, retries };
  }

  #nested({ path }: NestedRun): void {
    const frame = this.#run.frames.get(path) ?? this.#dropped.frames.get(path)!;
    const { nodeVisits } = frame;
    this.#frames.set(path, { ...this.#frame(frame), nodeVisits });
  }
}
