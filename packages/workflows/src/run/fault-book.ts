import type { Logger } from "@holdpoint/flow";
import { errorInfo } from "@holdpoint/tools";

/**
 * What took runs out of this process's hands: a store that was away, a revision that somebody else wrote. The runs stand as
 * their logs say, for adoption; here it is kept for whoever waits for one, and told to the operator.
 */
export class FaultBook {
  readonly #faults = new Map<string, unknown>();
  readonly #logger: Logger;
  readonly #onPut: (runId: string) => void;

  /** `onPut`: told of each run that was left, for whoever tries again. */
  constructor(logger: Logger, onPut: (runId: string) => void = () => undefined) {
    this.#logger = logger;
    this.#onPut = onPut;
  }

  put(runId: string, fault: unknown): void {
    this.#faults.set(runId, fault);
    this.#logger.error("a run was left as its log stands", { runId, code: errorInfo(fault).code });
    this.#onPut(runId);
  }

  /** A run's fault, if it has one. */
  of(runId: string): unknown {
    return this.#faults.get(runId);
  }

  /** The run is taken up again, or has ended. */
  clear(runId: string): void {
    this.#faults.delete(runId);
  }

  /** Throws a run's fault, once. */
  raise(runId: string): void {
    if (!this.#faults.has(runId)) return;
    const fault = this.#faults.get(runId);
    this.#faults.delete(runId);
    throw fault;
  }
}
