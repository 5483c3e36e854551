/**
 * Events and states as they are sealed: plain data. Values that user code made (results, arguments, payloads) are kept as
 * texts of their own, decoded only when somebody asks for them, by that somebody's schema (FLOW-71).
 *
 * F1 Of a run's own parts none that is `undefined` is written. What is absent reads the same; a single tag makes the writer
 *    copy all that is around it, and the reader build it anew.
 */
import { isSealError, type Sealer } from "@holdpoint/seal";
import { toolFacts, type AnyTool } from "@holdpoint/tools";

import { FlowError } from "../errors.ts";
import type { EventOf, RunEvent, RunSeed, VisitInputs } from "../run/event.ts";
import { plainIdentity, type Identity, type Made } from "../run/identity.ts";
import type { Entry, ExecutionState, Kept, Replaced, Settled, Started } from "../run/journal.ts";
import { itemPath } from "../run/path.ts";
import type { Frame, ItemState, OpenVisit, RunState, Stand, VisitState } from "../run/state.ts";
import { framesOf } from "../run/tree.ts";
import type { ApprovalWait, InDoubtWait, InterruptWait, SleepWait, Wait } from "../run/wait.ts";
import type { BodyWritten } from "./body.ts";
import { shortExecution, shortFacts, shortFrame } from "./left-out.ts";

type Text = Extract<Kept, { form: "text" }>;

/** What forms are made with. */
export interface FormParts {
  readonly sealer: Sealer;
  /** Whether what is encoded comes back by the codec's own rule alone. */
  readonly exact: boolean;
  /** What the state reaches: payloads, steps' results and the arguments of call nodes are read by it. */
  readonly reachable: unknown;
  /** Of a state that is sealed as a body: where long texts are put, and what need not be said again. */
  readonly body?: BodyWritten;
}

/** What a kept value is, where it has to be named, and the schema by which it will be read. */
interface Named {
  readonly what: string;
  readonly visit: string;
  readonly schema: unknown;
  /** The call or step whose result it is. */
  readonly call?: string;
}

/** The text of a kept value, or its line's number. @throws FlowError `state-not-sealable`, naming it and the path (FLOW-27). */
export function keptText(kept: Kept, parts: FormParts, named: Named): Text {
  const text = ownText(kept, parts, named);
  return parts.body === undefined ? text : parts.body.placed(text);
}

function ownText(kept: Kept, parts: FormParts, named: Named): Text {
  if (kept.form === "text") return kept;
  if (kept.form === "lost") throw unsealable(named, kept.why, { path: kept.path });
  // A kept value never changes, and a pause needs its text more than once.
  return (kept.known ??= {
    form: "text",
    text: closed(named, () => readable(kept, parts, named)),
  });
}

/** A value's text; what could be written and not be built again is refused now, not weeks later (FLOW-26, FLOW-71). */
function readable(
  { value, own }: Extract<Kept, { form: "value" }>,
  { sealer, exact }: FormParts,
  named: Named,
): string {
  const text = own === true ? sealer.encodeOwn(value) : sealer.encode(value);
  if (exact) return text;
  const { schema } = named;
  sealer.assertLoadable(text, { schema });
  if (sealer.encode(sealer.decode(text, { schema })) === text) return text;
  throw unsealable(named, "it does not come back from its seal as it went in");
}

/** `cause`: what refused it; or, of a value that was lost, where in it the trouble was. */
function unsealable({ what, visit, call }: Named, why: string, cause?: Where): FlowError {
  return new FlowError(
    "state-not-sealable",
    `${what} in ${visit} can't be sealed: ${why}`,
    { node: visit, ...pathIn(cause), ...(call !== undefined && { call }) },
    isSealError(cause) ? cause : undefined,
  );
}

interface Where {
  readonly path?: string | undefined;
}

function pathIn(where: Where | undefined): { readonly path?: string } {
  return where?.path === undefined ? {} : { path: where.path };
}

function closed<T>(named: Named, encode: () => T): T {
  try {
    return encode();
  } catch (cause) {
    if (!isSealError(cause)) throw cause;
    throw unsealable(named, cause.message, cause);
  }
}

/** A plain identity; an input without a key is on no record, so its call could not be told from others at a re-run. */
function identityForm(id: Identity, visit: string): Identity {
  const named = { what: `the input of '${id.name}'`, visit, schema: undefined, call: id.name };
  return closed(named, () => plainIdentity(id));
}

function toolOf(id: Identity | undefined): AnyTool | undefined {
  return (id as Partial<Made> | undefined)?.tool;
}

function settledForm(id: Identity, outcome: Settled, parts: FormParts, visit: string): Settled {
  if (!outcome.ok) return outcome;
  const tool = toolOf(id);
  const schema = tool === undefined ? parts.reachable : toolFacts(tool).output;
  const named = { what: `the result of '${id.name}'`, visit, schema, call: id.name };
  return { ok: true, result: keptText(outcome.result, parts, named) };
}

function waitForm(wait: Wait, parts: FormParts, visit: string): Wait {
  switch (wait.kind) {
    case "approval":
      return approvalWaitForm(wait, parts, visit);
    case "interrupt":
      return interruptWaitForm(wait, visit);
    case "in-doubt":
      return { ...wait, started: startedForm(wait.started, parts, visit) };
    case "sleep":
      return sleepForm(wait, visit);
  }
}

function approvalWaitForm(wait: ApprovalWait, parts: FormParts, visit: string): ApprovalWait {
  const { id, approvalId, facts, foreign, answer, kind, callId } = wait;
  const { argumentsDigest, requestedAt, order, recorded } = wait;
  const tool = toolOf(id);
  const schema = tool === undefined ? parts.reachable : toolFacts(tool).input;
  const named = { what: `what '${facts.tool}' shows`, visit, schema };
  const { body } = parts;
  const form: Writable<ApprovalWait> = {
    kind,
    callId,
    facts: body === undefined ? withoutNobody(facts) : shortFacts(wait, facts, body.seed, visit),
    arguments: keptText(wait.arguments, parts, named),
    argumentsDigest,
    requestedAt,
    order,
    recorded,
  };
  if (id !== undefined) form.id = identityForm(id, visit);
  if (approvalId !== undefined) form.approvalId = approvalId;
  if (foreign === true) form.foreign = true;
  if (answer !== undefined) form.answer = answer;
  return form as ApprovalWait; // F1
}

/** Filled member by member: leaving members out of a copy costs ten times as much. */
type Writable<T> = { -readonly [K in keyof T]?: T[K] };

/** F1 */
function withoutNobody<T extends { readonly requestedBy: unknown }>(of: T): T {
  if (of.requestedBy !== undefined) return of;
  const { requestedBy: _nobody, ...rest } = of;
  return rest as T;
}

function sleepForm(wait: SleepWait, visit: string): SleepWait {
  return { ...wait, id: identityForm(wait.id, visit) };
}

/** Info and cursor are texts from the start. */
function interruptWaitForm(wait: InterruptWait, visit: string): InterruptWait {
  return { ...wait, id: identityForm(wait.id, visit) };
}

function startedForm(started: Started, parts: FormParts, visit: string): Started {
  const tool = toolOf(started.id);
  const schema = tool === undefined ? parts.reachable : toolFacts(tool).input;
  const named = { what: `the arguments of '${started.id.name}'`, visit, schema };
  return {
    ...started,
    id: identityForm(started.id, visit),
    arguments: keptText(started.arguments, parts, named),
  };
}

function replacedForm(replaced: Replaced, parts: FormParts, visit: string): Replaced {
  const named = { what: "what a replaced question shows", visit, schema: parts.reachable };
  return { ...replaced, arguments: keptText(replaced.arguments, parts, named) };
}

function entryForm(entry: Entry, parts: FormParts, visit: string): Entry {
  return {
    ...entry,
    id: identityForm(entry.id, visit),
    outcome: settledForm(entry.id, entry.outcome, parts, visit),
  };
}

function inputsForm(inputs: VisitInputs, parts: FormParts, visit: string): VisitInputs {
  const form = (what: string, kept: Kept): Text =>
    keptText(kept, parts, { what, visit, schema: parts.reachable });
  switch (inputs.kind) {
    case "gate":
      return { ...inputs, payload: form("the payload", inputs.payload) };
    case "call":
      return { ...inputs, args: form("the arguments", inputs.args) };
    case "subflow":
      return { ...inputs, input: form("the input", inputs.input) };
    case "map":
      return { ...inputs, items: form("the list", inputs.items) };
  }
}

function itemForm(item: ItemState, parts: FormParts, path: string): ItemState {
  switch (item.status) {
    case "queued":
    case "failed":
      return item;
    case "finished":
      return { ...item, value: valueForm(item.value, parts, path) };
    default:
      return { ...item, execution: executionForm(item.execution, parts, path) };
  }
}

function valueForm(value: Kept, parts: FormParts, visit: string): Text {
  return keptText(value, parts, { what: "the value", visit, schema: parts.reachable });
}

function executionForm(execution: ExecutionState, parts: FormParts, visit: string): ExecutionState {
  const form: ExecutionState = {
    journal: execution.journal.map((entry) => entryForm(entry, parts, visit)),
    waits: execution.waits.map((wait) => waitForm(wait, parts, visit)),
    started: execution.started.map((started) => startedForm(started, parts, visit)),
    replaced: Object.fromEntries(
      Object.entries(execution.replaced).map(([key, replaced]) => [
        key,
        replacedForm(replaced, parts, visit),
      ]),
    ),
    nested: execution.nested.map((run) => ({ ...run, id: identityForm(run.id, visit) })),
    begun: { ...execution.begun },
    retries: execution.retries,
  };
  return parts.body === undefined ? form : shortExecution(form);
}

function visitForm(visit: VisitState, parts: FormParts): VisitState {
  if (visit.status === "finished") return visit;
  const { node, number, path, status, inputs, execution, items } = visit;
  const form: Writable<OpenVisit> = { node, number, path, status };
  if (inputs !== undefined) form.inputs = inputsForm(inputs, parts, path);
  form.execution = executionForm(execution, parts, path);
  if (items !== undefined)
    form.items = items.map((item, index) => itemForm(item, parts, itemPath(path, index)));
  return form as OpenVisit; // F1
}

/** A run's state as it is sealed; `stateOf` in `body.ts` reads it. @throws FlowError `state-not-sealable` */
export function stateForm(run: RunState, parts: FormParts): StateForm {
  const { startedAt, revision, phase, counters, announced, settling, frames, seed } = run;
  const form: StateForm = {
    startedAt,
    revision,
    phase,
    ...frameForm(ownFrame(run), parts),
    counters,
    seed: seedForm(seed),
  };
  if (announced !== undefined) form.announced = announced;
  if (settling !== undefined) form.settling = settling;
  if (frames.size > 0) form.frames = framesForm(frames, parts);
  return form;
}

function ownFrame({ path, state, visits, held, endReached, visited }: Frame): Frame {
  return { path, state, visits, held, endReached, visited };
}

/** F1 */
function seedForm({
  runId,
  scope,
  flow,
  digest,
  manifest,
  settings,
  requestedBy,
}: RunSeed): RunSeed {
  const form: Writable<RunSeed> = { runId, scope, flow, digest, manifest, settings };
  if (requestedBy !== undefined) form.requestedBy = requestedBy;
  return form as RunSeed;
}

/** F1 */
export type StateForm = Omit<RunState, "settling" | "frames"> &
  Partial<Pick<RunState, "frames">> & { settling?: NonNullable<RunState["settling"]> };

function standForm<T extends Stand>(stand: T, parts: FormParts): T {
  return { ...stand, ...frameForm(stand, parts), frames: framesForm(stand.frames, parts) };
}

function framesForm(frames: Stand["frames"], parts: FormParts): Stand["frames"] {
  return new Map([...frames].map(([path, frame]) => [path, frameForm(frame, parts)]));
}

function frameForm<F extends Frame>(frame: F, parts: FormParts): F {
  const form = { ...frame, visits: frame.visits.map((visit) => visitForm(visit, parts)) };
  return parts.body === undefined ? form : shortFrame(form);
}

/**
 * What makes the forms of those parts of a run that `known` does not hold; from then on it does. Each is a part that nothing
 * changes once it is there.
 */
export function formsBeside(
  known: WeakSet<object>,
  run: RunState,
  parts: FormParts,
): (() => unknown)[] {
  const forms: (() => unknown)[] = [];
  const take = (part: object, form: () => unknown): void => {
    if (known.has(part)) return;
    forms.push(form);
    known.add(part);
  };
  for (const frame of framesOf(run)) {
    const { state } = frame;
    take(state, () => ({ state }));
    for (const visit of frame.visits) takeVisit(visit, parts, take);
  }
  return forms;
}

type Take = (part: object, form: () => unknown) => void;

function takeVisit(visit: VisitState, parts: FormParts, take: Take): void {
  if (visit.status === "finished") return take(visit.end, () => visit.end);
  const { path, inputs, items = [] } = visit;
  if (inputs !== undefined) take(inputs, () => inputsForm(inputs, parts, path));
  takeExecution(visit.execution, parts, path, take);
  for (const [index, item] of items.entries()) {
    if (item.status === "queued") continue;
    const at = itemPath(path, index);
    if ("execution" in item) takeExecution(item.execution, parts, at, take);
    else take(item, () => itemForm(item, parts, at));
  }
}

function takeExecution(
  { journal, waits, started, replaced, nested }: ExecutionState,
  parts: FormParts,
  path: string,
  take: Take,
): void {
  for (const entry of journal) take(entry, () => entryForm(entry, parts, path));
  for (const wait of waits) take(wait, () => waitForm(wait, parts, path));
  for (const intent of started) take(intent, () => startedForm(intent, parts, path));
  for (const run of nested) take(run, () => identityForm(run.id, path));
  for (const question of Object.values(replaced))
    take(question, () => replacedForm(question, parts, path));
}

function startedVisitForm(event: EventOf<"visit-started">, parts: FormParts): RunEvent {
  const { inputs, ...rest } = event;
  const form = {
    ...rest,
    ...(inputs !== undefined && { inputs: inputsForm(inputs, parts, event.visit) }),
  };
  return form as EventOf<"visit-started">; // F1
}

/** An event as it is sealed. @throws FlowError `state-not-sealable` */
export function eventForm(event: RunEvent, parts: FormParts): RunEvent {
  switch (event.type) {
    case "run-started":
      return { ...event, seed: seedForm(event.seed) };
    case "forked":
    case "migrated":
    case "run-retried":
      return { ...event, stand: standForm(event.stand, parts) };
    case "visit-started":
      return startedVisitForm(event, parts);
    case "call-started": {
      const { call: id, arguments: args, idempotent, visit } = event;
      const started = startedForm({ id, arguments: args, idempotent }, parts, visit);
      return { ...event, call: started.id, arguments: started.arguments };
    }
    case "call-finished":
    case "nested-finished":
    case "step-recorded": {
      const outcome = settledForm(event.call, event.outcome, parts, event.visit);
      return { ...event, call: identityForm(event.call, event.visit), outcome };
    }
    case "item-finished": {
      const { end, visit } = event;
      if (!end.ok) return event;
      return { ...event, end: { ok: true, value: valueForm(end.value, parts, visit) } };
    }
    case "call-unjournaled":
    case "nested-started":
    case "nested-dropped":
      return { ...event, call: identityForm(event.call, event.visit) };
    case "approval-requested":
      return { ...event, wait: approvalWaitForm(event.wait, parts, event.visit) };
    case "in-doubt":
      return { ...event, wait: waitForm(event.wait, parts, event.visit) as InDoubtWait };
    case "sleeping":
      return { ...event, wait: sleepForm(event.wait, event.visit) };
    case "interrupted":
      return { ...event, wait: interruptWaitForm(event.wait, event.visit) };
    default:
      return event;
  }
}

/** Runs an encoding; what can't be sealed fails closed, by its path. @throws FlowError `state-not-sealable` */
export function sealable<T>(what: string, runId: string, encode: () => T): T {
  try {
    return encode();
  } catch (cause) {
    if (!isSealError(cause)) throw cause;
    throw new FlowError(
      "state-not-sealable",
      `${what} can't be sealed: ${cause.message}`,
      { runId, ...pathIn(cause) },
      cause,
    );
  }
}
