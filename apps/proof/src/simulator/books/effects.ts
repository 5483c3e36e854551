/**
 * The world outside: what tools really did. No process can take anything out of it.
 *
 * I2 A call whose end was on record when its process read the log does not run again.
 * I7 A tool that is not idempotent runs once at most, and only after its intent is on record; it is entered again only where
 *    a person said that it had not run. An idempotent one repeats under
 *    its key with the same arguments. What needs an approval runs under one that is spent.
 */
import type { StoreBook } from "./store-book.ts";

/** What a tool's code was called with. */
export interface Act {
  readonly tool: string;
  readonly runId: string;
  readonly callId: string;
  /** The idempotency key. */
  readonly key: string;
  /** In one spelling. */
  readonly args: string;
}

/** What is known of a tool. */
export interface ToolKind {
  readonly idempotent: boolean;
  readonly confirms: boolean;
}

export class Effects {
  /** Everything that happened, in order. */
  readonly done: Act[] = [];
  /** Acts that needed an approval, for a look at what was shown; taken out by whoever looks. */
  readonly toCheck: Act[] = [];
  readonly faults: string[] = [];
  readonly #tools: ReadonlyMap<string, ToolKind>;
  readonly #book: StoreBook;
  readonly #entered = new Map<string, { readonly act: Act; times: number }>();
  readonly #happened = new Set<string>();

  constructor(tools: ReadonlyMap<string, ToolKind>, book: StoreBook) {
    this.#tools = tools;
    this.#book = book;
  }

  /** The code of a tool is entered, by a process that has read the run's log up to a revision. */
  enter(act: Act, readTo: number): "first" | "again" {
    const { tool, runId, callId, key, args } = act;
    const { idempotent, confirms } = this.#tools.get(tool)!;
    const log = this.#book.log(runId);
    const fault = (what: string): unknown => this.faults.push(`run ${runId}: '${tool}' ${what}`);
    const before = this.#entered.get(key);
    const times = (before?.times ?? 0) + 1;
    if (!idempotent && times > 1 + log.cleared(key)) fault("was entered twice");
    if (before !== undefined && before.act.args !== args) fault("came again with other arguments");
    if (!idempotent && !log.begun.has(key)) fault("was entered before its intent was on record");
    const end = log.finished.get(key);
    if (end !== undefined && (end <= readTo || !idempotent)) fault("was entered after its end");
    if (confirms) {
      if (log.answers.get(callId)?.answer.decision.approved !== true)
        fault("was entered without an approval that is spent");
      this.toCheck.push(act);
    }
    this.#entered.set(key, { act, times });
    return before === undefined ? "first" : "again";
  }

  /** It took place. */
  happen(act: Act): void {
    const { tool, runId, key } = act;
    if (this.#happened.has(key) && !this.#tools.get(tool)!.idempotent)
      this.faults.push(`run ${runId}: '${tool}' happened twice`);
    this.#happened.add(key);
    this.done.push(act);
  }

  /** The act that took place under a key, where one did. */
  happened(key: string): Act | undefined {
    return this.done.find((act) => act.key === key);
  }

  /** What a run did, each act once. */
  of(runId: string): readonly string[] {
    const acts = this.done.filter((act) => act.runId === runId);
    return [...new Set(acts.map(({ tool, key, args }) => `${tool} ${args} ${key}`))].toSorted();
  }
}
