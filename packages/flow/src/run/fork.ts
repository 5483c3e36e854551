/**
 * A fork: a new run that stands where another one waits (FLOW-65). Pure; the other run is not touched.
 *
 * B1 What is finished stays finished: nodes, siblings of the round, and the calls and steps that a waiting visit has on
 *    record, which are replayed and not made again.
 * B2 What waits is asked anew, under ids of the new run; of the other run's approvals nothing is spent, looked at or taken
 *    over, not even a decision that was made and not gone on with.
 * B3 What a person was asked to allow is asked again, with what was shown, whatever the tool's rule says now (FLOW-66).
 * B4 A call that the other run had begun is in doubt here too, if it may not be repeated: a person says what became of it
 *    before this run makes it (FLOW-76).
 */
import { FlowError } from "../errors.ts";
import type { EventOf, RunSeed } from "./event.ts";
import { replacedKey, type ExecutionState, type Replaced, type SpentApproval } from "./journal.ts";
import type { Frame, ItemState, OpenVisit, RunState, Stand, VisitState } from "./state.ts";

/** The first two events of a fork. `was` is given up to it: its parts go over. */
export function forkOf(
  was: RunState,
  how: {
    /** The other run's, where it waits. */
    readonly revision: number;
    readonly seed: RunSeed;
    readonly start: string;
    readonly at: number;
  },
): readonly [EventOf<"run-started">, EventOf<"forked">] {
  const { runId, flow } = was.seed;
  if (was.phase.is !== "paused")
    throw new FlowError(
      "not-paused",
      `run ${runId} is under way: a fork is made of a run that waits`,
      { runId, flow },
    );
  return [
    { type: "run-started", at: how.at, seed: how.seed, start: how.start, state: was.state },
    {
      type: "forked",
      at: how.at,
      from: { runId, revision: how.revision },
      rounds: was.counters.rounds,
      stand: standAnew(was),
    },
  ];
}

function standAnew({ frames, ...run }: RunState): Stand {
  const anew = [...frames].map(([path, frame]) => {
    const { nodeVisits } = frame;
    return [path, { ...frameAnew(frame), nodeVisits }] as const;
  });
  return { ...frameAnew(run), frames: new Map(anew) };
}

function frameAnew({ path, state, visits, held, endReached, visited }: Frame): Frame {
  return { path, state, visits: visits.map(visitAnew), held, endReached, visited };
}

/** B1 */
function visitAnew(visit: VisitState): VisitState {
  if (visit.status === "finished") return visit;
  const { node, number, path, items } = visit;
  const execution = executionAnew(visit.execution);
  const inputs = inputsAnew(visit);
  const anew = { node, number, path, status: "ready" as const, inputs, execution };
  return items === undefined ? anew : { ...anew, items: items.map(itemAnew) };
}

function itemAnew(item: ItemState): ItemState {
  switch (item.status) {
    case "queued":
      return item;
    case "finished":
      return { status: "finished", value: item.value };
    case "failed":
      return { status: "failed", reason: item.reason, error: item.error };
    default:
      return { status: "ready", execution: executionAnew(item.execution) };
  }
}

/** A gate asks for what it shows now; what a call was asked with stands (B3). */
function inputsAnew({ inputs }: OpenVisit): OpenVisit["inputs"] {
  return inputs?.kind === "gate" ? undefined : inputs;
}

function executionAnew(execution: ExecutionState): ExecutionState {
  const { journal, waits, started, replaced, nested, begun, retries } = execution;
  const asked: Record<string, Replaced> = {};
  for (const [key, question] of Object.entries(replaced))
    asked[key] = { ...question, generation: 0 };
  const intents = [...started];
  for (const wait of waits) {
    switch (wait.kind) {
      case "approval":
        if (wait.id === undefined) break; // a gate's
        asked[replacedKey(wait.id)] = {
          generation: 0,
          arguments: wait.arguments,
          rule: wait.facts.rule,
        };
        break;
      case "interrupt":
        break; // its code asks anew, of whoever answers the fork
      case "sleep":
        break; // its code sleeps anew
      case "in-doubt":
        intents.push(wait.started);
    }
  }
  for (const { id, arguments: args, approval } of intents)
    if (approval !== undefined)
      asked[replacedKey(id)] ??= { generation: 0, arguments: args, rule: {} }; // B3
  return {
    journal: journal.map(unallowed), // B2
    waits: [],
    started: intents.map(unallowed), // B2, B4
    replaced: asked,
    nested, // their frames are made anew beside this one
    begun: { ...begun },
    retries,
  };
}

/** The same without the approval that let it run there. */
function unallowed<T extends { readonly approval?: SpentApproval }>(was: T): T {
  const { approval: _spent, ...rest } = was;
  return rest as T;
}
