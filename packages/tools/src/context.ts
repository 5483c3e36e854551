import type { CallOrder } from "./order.ts";

/** What a tool's functions get of the call beside its arguments (TOOL-08). */
export interface CallContext {
  readonly runId: string;
  /** The visit's path in the run; empty outside a flow. */
  readonly node: string;
  readonly callId: string;
  /**
   * The same across crashes, resumes, retries and edits of this very call: hand it to whatever the
   * tool changes.
   * @throws NotSealableError where the input can't be sealed and the tool gives no `key`.
   */
  readonly idempotencyKey: string;
  /** Aborted when the caller gives up, and when an attempt outlives `timeoutMs`. */
  readonly signal: AbortSignal;
}

/** A class with getters: an object literal of them made every call 2.5 times dearer. */
export class OrderContext implements CallContext {
  readonly #order: CallOrder;
  readonly #from: { readonly signal: AbortSignal };

  constructor(order: CallOrder, from: { readonly signal: AbortSignal } = order) {
    this.#order = order;
    this.#from = from;
  }

  get runId(): string {
    return this.#order.runId;
  }

  get node(): string {
    return this.#order.node;
  }

  get callId(): string {
    return this.#order.callId();
  }

  get idempotencyKey(): string {
    return this.#order.idempotencyKey();
  }

  get signal(): AbortSignal {
    return this.#from.signal;
  }
}
