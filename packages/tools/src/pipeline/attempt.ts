/**
 * One entry into a tool's `execute`.
 *
 * A1 Only this file takes `execute` out of its map (TOOL-10).
 * A2 The time limit covers the attempt alone; nobody's thinking counts (TOOL-14).
 * A3 The first ending stands. What settles later is handed to `late`, and reaches nobody else.
 * A4 Nothing is thrown: how it ended is a value.
 */
import type { Clock } from "@holdpoint/approvals";

import { onAbort } from "./abort.ts";
import { OrderContext } from "../context.ts";
import { executeOf } from "../execute-handle.ts";
import type { CallOrder } from "../order.ts";

export type AttemptEnd =
  | { readonly how: "returned"; readonly value: unknown }
  | { readonly how: "threw"; readonly thrown: unknown }
  | { readonly how: "timed-out" }
  | { readonly how: "cancelled" };

export interface AttemptHow {
  readonly timeoutMs: number | undefined;
  readonly clock: Clock;
  /** An attempt that had been left settled after all. */
  readonly late: () => void;
}

export function attempt(
  order: CallOrder,
  args: unknown,
  how: AttemptHow,
): AttemptEnd | Promise<AttemptEnd> {
  const signal = how.timeoutMs === undefined ? undefined : new JoinedSignal(order.signal);
  const context = new OrderContext(order, signal);
  let value: unknown;
  try {
    value = executeOf(order.tool)!(args, context);
    if (!isThenable(value)) return { how: "returned", value };
  } catch (thrown) {
    return { how: "threw", thrown };
  }
  return settled(value, order, how, signal);
}

function settled(
  value: PromiseLike<unknown>,
  order: CallOrder,
  { timeoutMs, clock, late }: AttemptHow,
  signal: JoinedSignal | undefined,
): Promise<AttemptEnd> {
  return new Promise((resolve) => {
    let ended = false;
    const end = (how: AttemptEnd): void => {
      if (ended) return late(); // A3
      ended = true;
      stopTimer?.();
      stopWaiting();
      resolve(how);
    };
    const stopTimer =
      timeoutMs === undefined
        ? undefined
        : clock.timer(timeoutMs, () => {
            end({ how: "timed-out" });
            signal?.abort(new DOMException(`took longer than ${timeoutMs} ms`, "TimeoutError"));
          });
    const stopWaiting = onAbort(order.signal, () => {
      end({ how: "cancelled" });
      signal?.abort(order.signal.reason);
    });
    // A promise of the tool's own making, and whatever only looks like one, settles in here.
    Promise.resolve(value).then(
      (result) => end({ how: "returned", value: result }),
      (thrown: unknown) => end({ how: "threw", thrown }),
    );
  });
}

/** The caller's signal and the time limit as one, made only for a tool that looks at it. */
class JoinedSignal {
  readonly #outer: AbortSignal;
  #controller: AbortController | undefined;
  #reason: { readonly value: unknown } | undefined;

  constructor(outer: AbortSignal) {
    this.#outer = outer;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason.value);
      else if (this.#outer.aborted) this.#controller.abort(this.#outer.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#reason = { value: reason };
    this.#controller?.abort(reason);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}
