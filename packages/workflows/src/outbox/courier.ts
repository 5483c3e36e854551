/**
 * Hands over what is in the outbox, each at least once (WF-36).
 *
 * C1 A row is taken by moving its time on, under its version: of several couriers one has it. One that dies has it no longer
 *    than the port may take, and another hands it over again, under the same id.
 * C2 A port that fails is asked again after a pause that doubles. No run waits for it.
 */

import type { CancelTimer, Row } from "@holdpoint/approvals";
import { errorInfo } from "@holdpoint/tools";

import { WorkflowError } from "../errors.ts";
import { courierPageMax, notifyMsMax, notifyPauseMs, notifyPauseMsMax } from "../limits.ts";
import { commitKnown, reached } from "../registry/commit.ts";
import type { Base } from "../run/options.ts";
import { DeliveryCodec, type Delivery } from "./delivery.ts";
import { outboxMove, type OutboxColumns, type OutboxStore } from "./store.ts";

/** The host's way of telling somebody. What it throws is a failure, and it is asked again. */
export type NotifyPort = (
  delivery: Delivery,
  how: {
    /** 1 the first time. */
    readonly attempt: number;
    /** Aborts after 30 seconds, and when the supervisor ends. */
    readonly signal: AbortSignal;
  },
) => void | Promise<void>;

export class Courier {
  readonly #base: Base;
  readonly #outbox: OutboxStore;
  readonly #notify: NotifyPort;
  readonly #codec: DeliveryCodec;
  readonly #ended = new AbortController();
  #round: Promise<void> | undefined;
  #again = false;

  constructor(base: Base, outbox: OutboxStore, notify: NotifyPort) {
    this.#base = base;
    this.#outbox = outbox;
    this.#notify = notify;
    this.#codec = new DeliveryCodec(base.keyring);
  }

  /** Hands over what is due; called again meanwhile, it looks once more. Never rejects. */
  look(): Promise<void> {
    this.#again = true;
    this.#round ??= this.#rounds().finally(() => (this.#round = undefined));
    return this.#round;
  }

  /** Begins nothing more, and tells the port to stop. */
  end(): void {
    this.#ended.abort(new WorkflowError("not-active", "the supervisor is being shut down"));
  }

  async #rounds(): Promise<void> {
    while (this.#again && !this.#ended.signal.aborted) {
      this.#again = false;
      try {
        const { scope } = this.#base;
        const now = await reached(this.#outbox.now());
        const rows = await reached(this.#outbox.due(scope, now, courierPageMax));
        await Promise.all(rows.map((row) => this.#handOver(row, now)));
        this.#again ||= rows.length === courierPageMax;
      } catch (error) {
        this.#base.logger.warn("the outbox could not be read", { code: errorInfo(error).code });
      }
    }
  }

  async #handOver(row: Row, now: number): Promise<void> {
    if (this.#ended.signal.aborted) return;
    const attempt = Number(row.values["tries"]) + 1;
    const taken = await this.#move(row, {
      tries: attempt,
      dueAt: now + notifyMsMax + notifyPauseMs,
    });
    if (taken === undefined) return; // C1: another has it
    try {
      await this.#told(this.#codec.open(this.#base.scope, row), attempt);
      await this.#move(taken, { state: "done" });
    } catch (error) {
      const { code } = errorInfo(error);
      this.#base.logger.warn("a delivery failed, and is made again", { delivery: row.key, code });
      const pauseMs = Math.min(notifyPauseMs * 2 ** (attempt - 1), notifyPauseMsMax); // C2
      await this.#move(taken, { dueAt: now + pauseMs }).catch(() => undefined); // it falls due by C1
    }
  }

  async #move(row: Row, to: Partial<OutboxColumns>): Promise<Row | undefined> {
    const { scope, ids } = this.#base;
    const write = outboxMove(scope, row, to);
    const known = await commitKnown(this.#outbox, ids.id(), [write]);
    if (known.status === "refused") return undefined;
    return { ...row, version: row.version + 1, values: write.values };
  }

  /** @throws what the port throws, or that it took too long */
  async #told(delivery: Delivery, attempt: number): Promise<void> {
    this.#ended.signal.throwIfAborted(); // it ended while the row was taken
    const late = new AbortController();
    const stop = (): void => late.abort(this.#ended.signal.reason);
    this.#ended.signal.addEventListener("abort", stop, { once: true });
    const cancel: CancelTimer = this.#base.clock.timer(notifyMsMax, () =>
      late.abort(new Error(`the port took longer than ${notifyMsMax} ms`)),
    );
    const { signal } = late;
    try {
      await Promise.race([this.#notify(delivery, { attempt, signal }), abortOf(signal)]);
    } finally {
      cancel();
      this.#ended.signal.removeEventListener("abort", stop);
    }
  }
}

function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
