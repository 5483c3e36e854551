import type { AnyTool, InputSnapshot } from "@holdpoint/tools";

import type { InterruptFacts } from "../graph/interrupt.ts";

/**
 * Which call or step of an execution: the same at every re-run, a crash and an adoption, because it is made of what was
 * asked for and the order in which equal things were asked, never of timing (FLOW-31, FLOW-38).
 */
export interface Identity {
  readonly kind: "call" | "step" | "moment" | "ask" | "sleep" | "run";
  /** The tool's, step's, interrupt's or nested flow's name. */
  readonly name: string;
  /** The journal key of a call's or nested run's input; empty for what has none. */
  readonly key: string;
  /** Its number among equal ones of the execution, in the order made, from 0. */
  readonly number: number;
}

/** One text for one identity. Names and keys hold no NUL: both come from checked alphabets or digests. */
export function identityText(id: Identity): string {
  return `${id.kind}\0${id.name}\0${id.key}\0${id.number}`;
}

/** A plain copy, for sealing. */
export function plainIdentity(id: Identity): Identity {
  return { kind: id.kind, name: id.name, key: id.key, number: id.number };
}

/** What the code asks for. */
export interface Asked {
  readonly kind: Identity["kind"];
  readonly name: string;
  readonly tool?: AnyTool;
  readonly input?: InputSnapshot;
  /** A key given by hand. */
  readonly hand?: string | undefined;
  /** What an interrupt is made of. */
  readonly interrupt?: InterruptFacts | undefined;
  /** Its number, where that is known otherwise than by counting. */
  readonly number?: number | undefined;
}

/**
 * Something the code asked for in this execution. Key and number are worked out when first read: a run that never pauses
 * never pays for them.
 */
export class Made implements Identity {
  readonly kind: Identity["kind"];
  readonly name: string;
  readonly input: InputSnapshot | undefined;
  readonly tool: AnyTool | undefined;
  readonly interrupt: InterruptFacts | undefined;
  /** Its place among everything the execution asked for: what waits is listed in this order (FLOW-21). */
  readonly order: number;
  readonly #tally: Tally;
  readonly #hand: string | undefined;
  #key: string | undefined;
  #number: number | undefined;

  constructor(what: Asked, order: number, tally: Tally) {
    this.kind = what.kind;
    this.name = what.name;
    this.input = what.input;
    this.tool = what.tool;
    this.interrupt = what.interrupt;
    this.#hand = what.hand;
    this.#number = what.number;
    this.order = order;
    this.#tally = tally;
  }

  /** @throws NotSealableError where the input can't be put into canonical form and the tool gives no key. */
  get key(): string {
    this.#key ??= this.#hand === undefined ? (this.input?.key() ?? "") : `=${this.#hand}`;
    return this.#key;
  }

  /** Whether it has a key at all: what has none is on no record, since no record of it could be sealed. */
  get keyed(): boolean {
    try {
      return this.key !== undefined;
    } catch {
      return false;
    }
  }

  get number(): number {
    if (this.#number === undefined) this.#tally.countUpTo(this.order);
    return this.#number!;
  }

  /** Whether its number is known, so that nobody has to count. */
  get counted(): boolean {
    return this.#number !== undefined;
  }

  /** For the tally alone. */
  numbered(number: number): void {
    this.#number = number;
  }
}

/** Counts equals in the order made, each thing once however often it is asked (a scan each time would be quadratic). */
export class Tally {
  readonly #made: Made[] = [];
  readonly #counts = new Map<string, number>();
  #counted = 0;

  get size(): number {
    return this.#made.length;
  }

  add(what: Asked): Made {
    const made = new Made(what, this.#made.length, this);
    this.#made.push(made);
    return made;
  }

  countUpTo(order: number): void {
    for (; this.#counted <= order; this.#counted++) {
      const made = this.#made[this.#counted]!;
      if (made.counted) continue;
      if (!made.keyed) {
        made.numbered(0); // equal to nothing; others are counted all the same
        continue;
      }
      const equal = `${made.kind}\0${made.name}\0${made.key}`;
      const number = this.#counts.get(equal) ?? 0;
      this.#counts.set(equal, number + 1);
      made.numbered(number);
    }
  }
}
