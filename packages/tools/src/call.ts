import type { ActorRef, Ids } from "@holdpoint/approvals";

import { type Digester, inputOf, type InputSnapshot } from "./input.ts";
import type { CallOrder, Spent } from "./order.ts";
import type { AnyTool, ToolInput } from "./tool.ts";

/** What a caller outside a flow may say of a call (TOOL-09). */
export interface CallOptions {
  /** Whose records an approval is filed among (default `default`). */
  readonly scope?: string;
  /**
   * What the call belongs to: a conversation, a job. With the same one, and the same input, a call
   * that waited for a person finds its approval again. Default: a new one.
   */
  readonly runId?: string;
  /**
   * Names this very call in its run; default: the run's and the input's names, so an equal call of
   * the run has the same.
   */
  readonly callId?: string;
  /** Handed to the tool; default: a random one, so that a call made twice is two calls. */
  readonly idempotencyKey?: string;
  readonly requestedBy?: ActorRef;
  readonly signal?: AbortSignal;
  /** What the run has spent, kept by `tally()`; default: each call is on its own. */
  readonly spent?: Spent & { charge(cost: number): void };
}

const never = new AbortController().signal;

/** The order of a call outside a flow. */
export class BareOrder implements CallOrder {
  readonly tool: AnyTool;
  readonly input: InputSnapshot;
  readonly scope: string;
  readonly runId: string;
  readonly node = "";
  readonly requestedBy: ActorRef | undefined;
  readonly signal: AbortSignal;
  readonly #options: CallOptions;
  readonly #ids: Ids;
  #idempotencyKey: string | undefined;

  constructor(
    tool: AnyTool,
    input: ToolInput<AnyTool>,
    options: CallOptions,
    ports: { readonly ids: Ids; readonly sealer: Digester },
  ) {
    this.tool = tool;
    this.input = inputOf(tool, input, ports.sealer);
    this.scope = options.scope ?? "default";
    this.runId = options.runId ?? ports.ids.id();
    this.requestedBy = options.requestedBy;
    this.signal = options.signal ?? never;
    this.#options = options;
    this.#ids = ports.ids;
    this.#idempotencyKey = options.idempotencyKey;
  }

  get spent(): Spent {
    return this.#options.spent ?? alone;
  }

  callId(): string {
    return this.#options.callId ?? `${this.runId}.${this.argumentKey()}`;
  }

  argumentKey(): string {
    return this.input.key();
  }

  idempotencyKey(): string {
    return (this.#idempotencyKey ??= this.#ids.id());
  }

  charge(cost: number): void {
    this.#options.spent?.charge(cost);
  }

  /** There is nothing to resume: whoever calls again brings the input again. */
  prepare(): void {}
}

const alone: Spent = Object.freeze({ calls: 0, cost: 0 });
