/**
 * The body of a checkpoint and of a snapshot: the state's form, and behind it, each on a line of its own, the long texts of
 * kept values. Within the form they would be escaped once more, and read through with it by whoever asks for none of them.
 *
 * L1 A sealed text holds no line feed, so lines need no other sign. In place of a text the form has its line's number, from 0.
 * L2 Lines stand in the order in which the form names them, each named once: one state has one body.
 */
import type { VisitInputs } from "../run/event.ts";
import type { ExecutionState, Kept } from "../run/journal.ts";
import type { ItemState, VisitState } from "../run/state.ts";
import { framesOf } from "../run/tree.ts";
import type { Wait } from "../run/wait.ts";
import { stateOf, type StateForm } from "./form.ts";
import type { RunState } from "../run/state.ts";

type Text = Extract<Kept, { form: "text" }>;

/** Shorter texts stand in the form: a line's number and the look for it cost as much as they do. */
const lineCharsMin = 256;

/** Takes the lines of one body, while its form is made. */
export class LinesWritten {
  readonly #lines: string[] = [];

  /** The text, or what stands for it in the form. */
  placed(kept: Text): Text {
    if (kept.text.length < lineCharsMin) return kept;
    const line: unknown = { form: "text", text: this.#lines.push(kept.text) - 1 };
    return line as Text;
  }

  /** The body that has these lines behind a form's text. */
  behind(form: string): string {
    return this.#lines.length === 0 ? form : [form, ...this.#lines].join("\n");
  }
}

/** A body's form, and its lines. */
export function linesIn(body: string): { readonly form: string; readonly lines: readonly string[] } {
  if (!body.includes("\n")) return { form: body, lines: [] };
  const [form, ...lines] = body.split("\n");
  return { form: form!, lines };
}

/** The state of a decoded form, with its lines in their places; `undefined`: they are not those that it names (L2). */
export function stateWithLines(form: StateForm, lines: readonly string[]): RunState | undefined {
  const state = stateOf(form);
  if (lines.length === 0) return state;
  const reader = new LinesRead(lines);
  for (const { visits } of framesOf(state)) for (const visit of visits) reader.visit(visit);
  return reader.holds ? state : undefined;
}

/** Puts lines where a form names them: in the order in which it was made. */
class LinesRead {
  readonly #lines: readonly string[];
  #next = 0;
  #inOrder = true;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  get holds(): boolean {
    return this.#inOrder && this.#next === this.#lines.length;
  }

  visit(visit: VisitState): void {
    if (visit.status === "finished") return;
    const { inputs, items = [] } = visit;
    if (inputs !== undefined) this.#kept(inputIn(inputs));
    this.#execution(visit.execution);
    for (const item of items) this.#item(item);
  }

  #item(item: ItemState): void {
    if (item.status === "finished") this.#kept(item.value);
    else if ("execution" in item) this.#execution(item.execution);
  }

  #execution({ journal, waits, started, replaced }: ExecutionState): void {
    for (const { outcome } of journal) if (outcome.ok) this.#kept(outcome.result);
    for (const wait of waits) this.#wait(wait);
    for (const intent of started) this.#kept(intent.arguments);
    for (const question of Object.values(replaced)) this.#kept(question.arguments);
  }

  #wait(wait: Wait): void {
    if (wait.kind === "approval") this.#kept(wait.arguments);
    else if (wait.kind === "in-doubt") this.#kept(wait.started.arguments);
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
