import type { Graph } from "../graph/flow.ts";
import type { RunEvent } from "./event.ts";
import type { Replayed } from "./history.ts";
import type { Parts } from "./parts.ts";

/**
 * A run's log as it was read and verified: what happened, and what going on from there needs, so that whoever looks first reads it once.
 * It is gone on from once, by a runner of the same keyring, with the flow that it was read for; otherwise the log is read anew. What
 * was logged since is found by the first commit, which then is refused.
 */
export class RunReading {
  /** After the revision that was asked for, in order. */
  readonly events: readonly RunEvent[];
  /** Of the log's last entry, as it was read. */
  readonly revision: number;
  readonly #of: ReadFor;
  #goOn: (() => Replayed) | undefined;

  constructor(
    { events, revision }: { readonly events: readonly RunEvent[]; readonly revision: number },
    of: ReadFor,
    goOn: (() => Replayed) | undefined,
  ) {
    this.events = events;
    this.revision = revision;
    this.#of = of;
    this.#goOn = goOn;
  }

  /** The run as it was read, once; its state owns what the events hold. */
  static taken(reading: RunReading | undefined, by: ReadFor): Replayed | undefined {
    if (reading === undefined) return undefined;
    const { graph, keyring, scope, runId } = reading.#of;
    const isSame =
      graph === by.graph && keyring === by.keyring && scope === by.scope && runId === by.runId;
    const goOn = isSame ? reading.#goOn : undefined;
    if (isSame) reading.#goOn = undefined;
    return goOn?.();
  }
}

/** What a log was read for. */
export interface ReadFor {
  readonly graph: Graph;
  readonly keyring: Parts["keyring"];
  readonly scope: string;
  readonly runId: string;
}
