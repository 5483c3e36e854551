/**
 * The body of a checkpoint and of a snapshot: the state's form, and behind it, each on a line of its own, the long texts of
 * kept values. Within the form they would be escaped once more, and read through with it by whoever asks for none of them.
 *
 * L1 A sealed text holds no line feed, so lines need no other sign. In place of a text the form has its line's number, from 0.
 * L2 Lines stand in the order in which the form names them, each named once: one state has one body.
 */
import type { RunSeed, VisitInputs } from "../run/event.ts";
import type { ExecutionState, Kept, KeptText } from "../run/journal.ts";
import { itemPath } from "../run/path.ts";
import type { ItemState, NestedFrame, RunState, VisitState } from "../run/state.ts";
import type { Wait } from "../run/wait.ts";
import type { StateForm } from "./form.ts";
import { wholeExecution, wholeFrame, wholeWait } from "./left-out.ts";

/** Shorter texts stand in the form: a line's number and the look for it cost as much as they do. */
const lineCharsMin = 256;

/** Takes the lines of one body, while its form is made. */
export class BodyWritten {
  /** Whose state it is: what the seed says is not said again. */
  readonly seed: RunSeed;
  readonly #lines: string[] = [];

  constructor(seed: RunSeed) {
    this.seed = seed;
  }

  /** The text, or what stands for it in the form. */
  placed(kept: KeptText): KeptText {
    if (kept.text.length < lineCharsMin) return kept;
    const line: unknown = { form: "text", text: this.#lines.push(kept.text) - 1 };
    return line as KeptText;
  }

  /** The body that has these lines behind a form's text. */
  behind(form: string): string {
    return this.#lines.length === 0 ? form : [form, ...this.#lines].join("\n");
  }
}

/** A body's form, and its lines. */
export function linesIn(body: string): {
  readonly form: string;
  readonly lines: readonly string[];
} {
  if (!body.includes("\n")) return { form: body, lines: [] };
  const [form, ...lines] = body.split("\n");
  return { form: form!, lines };
}

/** The state of a decoded form, whole, with its lines in their places; `undefined`: they are not those that it names (L2). */
export function stateOf(form: StateForm, lines: readonly string[]): RunState | undefined {
  const { settling, frames = new Map<string, NestedFrame>(), ...rest } = form;
  const state: RunState = { ...wholeFrame(rest as RunState), settling, frames };
  const reader = new BodyRead(state.seed, lines);
  for (const visit of state.visits) reader.visit(visit);
  for (const [path, short] of frames) {
    const frame = wholeFrame(short);
    frames.set(path, frame);
    for (const visit of frame.visits) reader.visit(visit);
  }
  return reader.holds ? state : undefined;
}

/** Puts in its place what a form leaves out, lines in the order in which they were written. */
class BodyRead {
  readonly #seed: RunSeed;
  readonly #lines: readonly string[];
  #next = 0;
  #inOrder = true;

  constructor(seed: RunSeed, lines: readonly string[]) {
    this.#seed = seed;
    this.#lines = lines;
  }

  get holds(): boolean {
    return this.#inOrder && this.#next === this.#lines.length;
  }

  visit(visit: VisitState): void {
    if (visit.status === "finished") return;
    const { inputs, items, path } = visit;
    if (inputs !== undefined) this.#kept(inputIn(inputs));
    visit.execution = this.#execution(visit.execution, path);
    if (items === undefined) return;
    for (const [index, item] of items.entries()) this.#item(item, itemPath(path, index));
  }

  #item(item: ItemState, path: string): void {
    if (item.status === "finished") this.#kept(item.value);
    else if ("execution" in item) item.execution = this.#execution(item.execution, path);
  }

  #execution(short: Partial<ExecutionState>, path: string): ExecutionState {
    const execution = wholeExecution(short);
    const { journal, waits, started, replaced } = execution;
    for (const { outcome } of journal) if (outcome.ok) this.#kept(outcome.result);
    for (let index = 0; index < waits.length; index++)
      waits[index] = this.#wait(waits[index]!, path);
    for (const intent of started) this.#kept(intent.arguments);
    for (const question of Object.values(replaced)) this.#kept(question.arguments);
    return execution;
  }

  #wait(wait: Wait, path: string): Wait {
    if (wait.kind === "in-doubt") this.#kept(wait.started.arguments);
    if (wait.kind !== "approval") return wait;
    this.#kept(wait.arguments);
    return wholeWait(wait, this.#seed, path);
  }

  #kept(kept: Kept): void {
    if (kept.form !== "text" || typeof (kept.text as unknown) !== "number") return;
    const named = kept as { text: unknown };
    if (named.text !== this.#next) this.#inOrder = false;
    named.text = this.#lines[this.#next++];
  }
}

function inputIn(inputs: VisitInputs): Kept {
  switch (inputs.kind) {
    case "gate":
      return inputs.payload;
    case "call":
      return inputs.args;
    case "subflow":
      return inputs.input;
    case "map":
      return inputs.items;
  }
}
