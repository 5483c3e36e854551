/**
 * A log's entries, each sealed and chained to the one before (FLOW-73).
 *
 * L1 An entry's header names its run and revision and holds the MAC of the entry before; the first holds none.
 * L2 A removed, moved, reordered, foreign or added entry breaks the header of a neighbour: refused, before it is decoded.
 * L3 What an entry repeats of earlier ones is kept once (`repeats.ts`), below the seal. An entry that a snapshot is taken at is
 *    kept whole, and no later one names anything before it: reading on from a snapshot needs nothing older.
 */
import { isSealError, sign, verify, type Header, type Keyring, type Sealer } from "@holdpoint/seal";

import { FlowError, isFlowError } from "../errors.ts";
import type { RunEvent } from "../run/event.ts";
import { appendWrite, type LogRow } from "../run/log.ts";
import type { State } from "../graph/node.ts";
import { eventForm, sealable, type FormParts } from "./form.ts";
import { Growing } from "./growth.ts";
import { madeWhole, Repeats } from "./repeats.ts";

/** Where a chain stands: what the next entry has to name. */
export interface ChainEnd {
  readonly revision: number;
  /** MAC of the last entry; empty before the first. */
  readonly mac: string;
}

export const chainStart: ChainEnd = { revision: 0, mac: "" };

/** An event's text on its way into the log. */
export interface Entry {
  readonly body: string;
  /** What the header says of the graph, where the run begins with it or is carried over to it (`graphHeader`). */
  readonly of?: Header | undefined;
}

export interface SealedEntries {
  readonly writes: readonly ReturnType<typeof appendWrite>[];
  readonly end: ChainEnd;
  /** For `takeBack`, where the writes did not come to stand. */
  readonly mark: number;
}

/** What seals and opens one run's entries. */
export class Chain {
  readonly #keyring: Keyring;
  readonly #sealer: Sealer;
  readonly #forms: FormParts;
  readonly #scope: string;
  readonly #runId: string;
  readonly #repeats = new Repeats();
  readonly #growing = new Growing();

  constructor(how: { keyring: Keyring; forms: FormParts; scope: string; runId: string }) {
    this.#keyring = how.keyring;
    this.#sealer = how.forms.sealer;
    this.#forms = how.forms;
    this.#scope = how.scope;
    this.#runId = how.runId;
  }

  /**
   * An event's text. `state`: what its frame held when it happened, from which fields go on that only grew (`growth.ts`).
   * @throws FlowError `state-not-sealable` with the path of what can't be sealed.
   */
  encode(event: RunEvent, state?: State): string {
    const grown = state && this.#growing.of(event, state);
    const text = grown && this.#encodedPart(grown.event);
    if (text !== undefined && this.#growing.fits(grown!, text)) {
      this.#growing.encoded(event, text, grown);
      return text;
    }
    const whole = sealable(`${event.type}`, this.#runId, () => this.#encoded(event));
    this.#growing.encoded(event, whole);
    return whole;
  }

  #encoded(event: RunEvent): string {
    return this.#sealer.encode(eventForm(event, this.#forms));
  }

  /** `undefined`: it can't be sealed so; the whole says why, and where. */
  #encodedPart(event: RunEvent): string | undefined {
    try {
      return this.#encoded(event);
    } catch (error) {
      if (isSealError(error) || isFlowError(error, "state-not-sealable")) return undefined;
      throw error;
    }
  }

  /** The writes that append encoded events after `end`. `snapshot`: one is taken at the last of them (L3). */
  seal(end: ChainEnd, entries: readonly Entry[], snapshot = false): SealedEntries {
    const mark = this.#repeats.mark();
    let { revision, mac } = end;
    const writes = entries.map(({ body, of }, index) => {
      revision += 1;
      const signed = sign(body, {
        keyring: this.#keyring,
        purpose: "log-entry",
        header: {
          ...of,
          scope: this.#scope,
          run: this.#runId,
          rev: revision,
          prev: mac, // L1
        },
      });
      mac = signed.mac;
      const isWhole = snapshot && index === entries.length - 1;
      if (isWhole) this.#repeats.clear();
      const kept = this.#repeats.cut(revision, signed.text); // with nothing remembered: as it is
      return appendWrite(this.#scope, this.#runId, revision, kept);
    });
    return { writes, end: { revision, mac }, mark };
  }

  /** What was sealed did not come to stand: nothing later may name it. */
  takeBack({ mark }: SealedEntries): void {
    this.#repeats.takeBack(mark);
  }

  /** Where the chain stands at an entry that something else vouches for: its own seal is checked, and not what is before it. */
  at(row: LogRow, revision: number): ChainEnd {
    const { header, mac } = this.#verified(row.text, revision);
    if (row.revision !== revision || !this.#isOwn(header, revision)) throw this.#tampered(revision);
    return { revision, mac };
  }

  /**
   * Entries after `end`, verified in order and only then decoded. `before` is told the last header that says of which graph
   * the run is, and gives the schema to decode by. `from`: the entry that `end` is at, where reading begins at a snapshot, and
   * what that says of the graph.
   * @throws FlowError `checkpoint-tampered` naming the first revision that does not hold.
   */
  open(
    end: ChainEnd,
    rows: readonly LogRow[],
    before: (of: Header) => unknown,
    from?: { readonly entry: LogRow; readonly of: Header },
  ): { events: RunEvent[]; end: ChainEnd } {
    const { bodies, of, end: last } = this.#walked(end, rows, from);
    const schema = before(of);
    const events = bodies.map((body) => this.#sealer.decode(body, { schema }) as RunEvent);
    return { events, end: last };
  }

  /** Verifies entries and decodes none. @throws as `open` */
  check(end: ChainEnd, rows: readonly LogRow[]): ChainEnd {
    return this.#walked(end, rows).end;
  }

  #walked(
    end: ChainEnd,
    rows: readonly LogRow[],
    from?: { readonly entry: LogRow; readonly of: Header },
  ) {
    let { revision, mac } = end;
    let of: Header = from?.of ?? {};
    const whole = new Map<number, string>();
    if (from !== undefined) whole.set(end.revision, from.entry.text);
    const bodies = rows.map((row) => {
      revision += 1;
      const text = madeWhole(row.text, (earlier) => whole.get(earlier)); // L3
      if (text === undefined) throw this.#tampered(revision);
      whole.set(revision, text);
      const entry = this.#verified(text, revision);
      const { header } = entry;
      const holds =
        row.revision === revision && this.#isOwn(header, revision) && header["prev"] === mac;
      if (!holds) throw this.#tampered(revision); // L2
      if ("graph" in header) of = header;
      mac = entry.mac;
      return entry.body;
    });
    return { bodies, of, end: { revision, mac } };
  }

  #isOwn(header: Header, revision: number): boolean {
    return (
      header["scope"] === this.#scope && header["run"] === this.#runId && header["rev"] === revision
    );
  }

  #verified(text: string, revision: number): ReturnType<typeof verify> {
    try {
      return verify(text, { keyring: this.#keyring, purpose: "log-entry" });
    } catch (error) {
      if (isSealError(error)) throw this.#tampered(revision, error);
      throw error;
    }
  }

  #tampered(revision: number, cause?: unknown): FlowError {
    return new FlowError(
      "checkpoint-tampered",
      `entry ${revision} of run ${this.#runId} is not what was written there, or was sealed under another key (see the keyring given to the runner)`,
      { runId: this.#runId, revision },
      cause,
    );
  }
}
