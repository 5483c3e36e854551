/**
 * What a run asks of people beside approvals, and what it waits for by itself, as its log says: questions, calls in doubt, sleeps.
 * Independent of the code that folds the log.
 */
import type { EventOf, RunEvent } from "@holdpoint/flow";

/** A question of a node's code. */
export interface Asked {
  readonly kind: "interrupt";
  readonly id: string;
  readonly visit: string;
}

/** A call of which nobody knows whether it ran. */
export interface Doubt {
  readonly kind: "in-doubt";
  readonly id: string;
  readonly visit: string;
  readonly tool: string;
  /** Its idempotency key. */
  readonly key: string;
}

export interface Sleep {
  readonly kind: "sleep";
  readonly id: string;
  readonly visit: string;
  readonly until: number;
}

export type Asking = Asked | Doubt | Sleep;

/** A call within its visit. */
type Call = Pick<EventOf<"call-started">, "visit" | "call">;

export class Askings {
  /** Everything that was ever asked, by its id; what was asked again under its id stands once. */
  readonly all = new Map<string, Asking>();
  /** Sleeps that are over. */
  readonly fired = new Set<string>();
  readonly #open = new Set<string>();
  readonly #keyOf: (call: Call) => string;
  /** How often a person said of a call that it had not run, by its key. */
  readonly #cleared = new Map<string, number>();

  constructor(keyOf: (call: Call) => string) {
    this.#keyOf = keyOf;
  }

  get open(): readonly Asking[] {
    return [...this.#open].map((id) => this.all.get(id)!);
  }

  cleared(key: string): number {
    return this.#cleared.get(key) ?? 0;
  }

  /** What is answered under an id; `undefined`: nothing that is open. Closes it. */
  answered(id: string): Asking | undefined {
    return this.#open.delete(id) ? this.all.get(id) : undefined;
  }

  /** It may be entered again. */
  clear(key: string): void {
    this.#cleared.set(key, this.cleared(key) + 1);
  }

  follow(event: RunEvent): void {
    switch (event.type) {
      case "interrupted":
        return this.#ask({ kind: "interrupt", id: event.wait.callId, visit: event.visit });
      case "sleeping": {
        const { callId: id, until } = event.wait;
        return this.#ask({ kind: "sleep", id, visit: event.visit, until });
      }
      case "in-doubt": {
        const { callId: id, started } = event.wait;
        const { visit } = event;
        const key = this.#keyOf({ visit, call: started.id });
        return this.#ask({ kind: "in-doubt", id, visit, tool: started.id.name, key });
      }
      case "deadline-fired":
        this.fired.add(event.callId);
        this.#open.delete(event.callId);
        return;
      case "visit-finished":
        return this.#leave(event.visit);
      default:
        return;
    }
  }

  #ask(asking: Asking): void {
    this.all.set(asking.id, asking);
    this.#open.add(asking.id);
  }

  /** What a visit asked, and what was asked within it, is nobody's to answer once it is over. */
  #leave(visit: string): void {
    for (const { id, visit: asked } of this.open)
      if (asked === visit || asked.startsWith(`${visit}/`) || asked.startsWith(`${visit}[`))
        this.#open.delete(id);
  }
}
