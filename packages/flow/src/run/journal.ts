import type { ApprovalRecords, DecisionRecord, RequestFacts } from "@holdpoint/approvals";
import type { ErrorInfo } from "@holdpoint/tools";

import { identityText, type Identity, type Made } from "./identity.ts";
import type { InDoubtWait, Wait } from "./wait.ts";

/** A wait for something that the code asked. */
export type AskedWait = Exclude<Wait, InDoubtWait>;

/**
 * A value in the journal: as it was recorded in this process, or as the text that the seal covered. Texts are decoded
 * when they are asked for, by the schema of who asks, so only classes that this schema reaches are ever built (FLOW-71).
 */
export type Kept =
  /** `own`: built here, held by nobody else, and plain: reading it runs nobody's code. */
  | { readonly form: "value"; readonly value: unknown; readonly own?: true; known?: KeptText }
  | KeptText
  /** It could not be sealed: that the call ran is on record, and what it gave is not (FLOW-27). */
  | { readonly form: "lost"; readonly why: string; readonly path?: string };

/** `known` of a value: its text, once that was needed. */
export interface KeptText {
  readonly form: "text";
  readonly text: string;
}

/** How something ended. */
export type Settled =
  | { readonly ok: true; readonly result: Kept }
  | { readonly ok: false; readonly error: ErrorInfo };

/** One finished thing of an execution, in the order in which its outcome reached the code. */
export interface Entry {
  readonly id: Identity;
  readonly outcome: Settled;
  /** The approval that allowed or refused it, for the checks of later resumes (FLOW-55). */
  readonly approval?: SpentApproval;
  /** The cursor that an answered question had brought (FLOW-22). */
  readonly cursor?: Kept;
  /** A person said so of a call in doubt: whether the code had asked for it again by then (FLOW-76). */
  readonly doubt?: "asked" | "unasked";
  /** A failure that was attempted anew since: kept, and replayed to nobody (WF-29, FLOW-12). */
  readonly retried?: true;
}

/** Whether a retry attempts an entry anew: a failure that nobody attested, and that was not attempted anew before. */
export function isRetriable({ outcome, doubt, retried }: Entry): boolean {
  return !outcome.ok && doubt === undefined && retried !== true;
}

export interface SpentApproval {
  readonly id: string;
  readonly decision: DecisionRecord;
  /** The attempt that spent it; absent where its port keeps no records. */
  readonly attemptId?: string;
}

/** An approval spent in this process, with the records it lives in where those are not the runner's own (FLOW-56). */
export interface SpentHere extends SpentApproval {
  readonly own?: ApprovalRecords;
}

/** A call that was begun and whose end is not on record. */
export interface Started {
  readonly id: Identity;
  readonly arguments: Kept;
  readonly idempotent: boolean;
  readonly approval?: SpentApproval;
  /** How often a person had to say what became of it, so far (FLOW-76). */
  readonly doubts?: number;
  /** The person said that it did not run: it may be entered. */
  readonly mayRun?: true;
}

/** One execution of a node's code, as far as it is on record. */
export interface ExecutionState {
  readonly journal: Entry[];
  readonly waits: Wait[];
  readonly started: Started[];
  /** Questions that were replaced on request, by identity (FLOW-38). */
  readonly replaced: Record<string, Replaced>;
  /** Nested runs under way, in the order begun. */
  readonly nested: NestedRun[];
  /** How many nested runs of each flow were begun, by the flow's name: the next one's number. */
  readonly begun: Record<string, number>;
  /** How often this visit was tried again after a failure, over all pauses (FLOW-12). */
  retries: number;
}

/** A nested run that has not ended; its frame is kept by its path. */
export interface NestedRun {
  readonly id: Identity;
  readonly path: string;
  /** Its place among all that its execution asked for. */
  readonly order: number;
}

/** A question that is asked again under a new id: how often, and what it is about (FLOW-35, FLOW-66). */
export interface Replaced {
  readonly generation: number;
  readonly arguments: Kept;
  readonly rule: RequestFacts["rule"];
}

/** Of an execution that nothing is on record of; shared, and never written to. */
export const freshExecution: ExecutionState = Object.freeze({
  journal: Object.freeze([]) as never,
  waits: Object.freeze([]) as never,
  started: Object.freeze([]) as never,
  replaced: Object.freeze({}),
  nested: Object.freeze([]) as never,
  begun: Object.freeze({}),
  retries: 0,
});

export function newExecution(): ExecutionState {
  return { journal: [], waits: [], started: [], replaced: {}, nested: [], begun: {}, retries: 0 };
}

/** How many runs of a flow an execution has begun. */
export function begunOf({ begun }: ExecutionState, flow: string): number {
  return Object.hasOwn(begun, flow) ? begun[flow]! : 0;
}

/** A key without NUL, so that it seals as it is. */
export function replacedKey(id: Identity): string {
  return `${id.name}/${id.key}/${id.number}`;
}

interface Recorded {
  readonly entry: Entry;
  /** Whether the code is sure to ask for it: nothing before it is attempted anew. */
  readonly sure: boolean;
  state: "unclaimed" | "claimed" | "delivered";
}

/** Whether nothing at all is on record of an execution. */
export function isFresh(execution: ExecutionState): boolean {
  if (execution === freshExecution) return true;
  const { journal, waits, started, replaced, nested } = execution;
  return (
    nested.length === 0 &&
    journal.length === 0 &&
    waits.length === 0 &&
    started.length === 0 &&
    Object.keys(replaced).length === 0
  );
}

/**
 * What is on record of an execution that runs again: entries in order, found by identity. A copy: the fold goes on
 * pushing to its own arrays.
 */
export class Prior {
  readonly #entries: Recorded[];
  readonly #byIdentity: Map<string, Recorded>;
  readonly #waits: Map<string, AskedWait>;
  readonly #doubts: Map<string, InDoubtWait>;
  readonly #started: Map<string, Started>;
  readonly #nested: Map<string, NestedRun>;
  readonly #replaced: Readonly<Record<string, Replaced>>;
  /** Whether something is on record that the code should ask for before anything new begins (S6). */
  readonly replays: boolean;
  /** Whether nothing at all is attempted anew. */
  readonly #isSure: boolean;
  #firstOpen = 0;
  /** How many entries, from the first, the code may leave out. */
  #behind = 0;

  constructor(execution: ExecutionState) {
    const { journal, waits, started, nested, replaced } = execution;
    this.#replaced = { ...replaced };
    let sure = true;
    this.#entries = journal.map((entry): Recorded => {
      if (entry.retried === true) sure = false; // from here on the code may see something else, and go another way
      return { entry, sure, state: "unclaimed" };
    });
    const replayed = sure ? this.#entries : this.#entries.filter(isReplayed);
    this.#byIdentity = byIdentity(replayed, ({ entry }) => entry.id);
    this.replays = replayed.length > 0 || nested.length > 0;
    this.#isSure = sure;
    this.#waits = byIdentity(waits.filter(isAsked), (wait) => wait.id);
    this.#doubts = byIdentity(waits.filter(isInDoubt), (wait) => wait.started.id);
    this.#started = byIdentity(started, ({ id }) => id);
    this.#nested = byIdentity(nested, ({ id }) => id);
  }

  /** The entry of this identity, marked as asked for. */
  claim(id: Made): Entry | undefined {
    if (!id.keyed) return undefined;
    const recorded = this.#byIdentity.get(identityText(id));
    if (recorded === undefined || recorded.state !== "unclaimed") return undefined;
    recorded.state = "claimed";
    return recorded.entry;
  }

  /** The first entry in order that was asked for and not delivered (S5). */
  next(): Entry | undefined {
    while (this.#entries[this.#firstOpen]?.state === "delivered") this.#firstOpen++;
    for (let index = this.#firstOpen; index < this.#entries.length; index++) {
      const recorded = this.#entries[index]!;
      if (recorded.state !== "claimed") continue;
      recorded.state = "delivered";
      return recorded.entry;
    }
    return undefined;
  }

  /** Synchronous steps are never in the order of deliveries: found and taken at once. */
  take(id: Made): Entry | undefined {
    const entry = this.claim(id);
    if (entry !== undefined) this.#byIdentity.get(identityText(id))!.state = "delivered";
    return entry;
  }

  /** What waits, or had begun, under this identity; taken: asked for once. */
  wait(id: Made): AskedWait | undefined {
    return taken(this.#waits, id);
  }

  started(id: Made): Started | undefined {
    return taken(this.#started, id);
  }

  /** The call's own doubt, which nobody has answered. */
  doubt(id: Made): InDoubtWait | undefined {
    return taken(this.#doubts, id);
  }

  /** A nested run that is under way; taken. */
  nested(id: Made): NestedRun | undefined {
    return taken(this.#nested, id);
  }

  /** This call's question, where it was replaced before. */
  replaced(id: Made): Replaced | undefined {
    return id.keyed ? this.#replaced[replacedKey(id)] : undefined;
  }

  /** The code goes on from a cursor: it need not ask for these entries again. */
  leaveOut(first: number): void {
    this.#behind = Math.max(this.#behind, first);
  }

  /**
   * What nobody asked for so far, `came` included (FLOW-41). Synchronous steps don't count: code may read the clock as it
   * likes; nor does what lies behind a cursor that the code has looked at.
   */
  unclaimed(came: readonly Made[]): readonly Identity[] {
    const entries = this.#entries
      .slice(this.#behind)
      .flatMap((recorded) => (isExpected(recorded) ? [recorded.entry.id] : []));
    if (this.#nested.size === 0 || !this.#isSure) return entries;
    const begun = new Set(came.flatMap((made) => (made.keyed ? [identityText(made)] : [])));
    const nested = [...this.#nested].flatMap(([text, { id }]) => (begun.has(text) ? [] : [id]));
    return [...entries, ...nested];
  }

  /** Nested runs that the re-run did not ask for again. */
  unclaimedNested(): readonly NestedRun[] {
    return [...this.#nested.values()];
  }

  /** Waits whose call the re-run did not make again (FLOW-38). */
  unclaimedWaits(): readonly AskedWait[] {
    return [...this.#waits.values()];
  }

  /** Intents whose call the re-run did not make again: in doubt, unless a person said that it did not run (FLOW-76). */
  unclaimedStarted(): readonly Started[] {
    return [...this.#started.values()].filter(({ mayRun }) => mayRun !== true);
  }

  /** Doubts that stand, of calls that the re-run did not make again. */
  get doubtsLeft(): boolean {
    return this.#doubts.size > 0;
  }

  /** What a person had count as failed although the code did not ask for it any more, and still does not. */
  unaskedFailure(): ErrorInfo | undefined {
    for (const { entry, state } of this.#entries) {
      if (state === "unclaimed" && entry.doubt === "unasked" && !entry.outcome.ok)
        return entry.outcome.error;
    }
    return undefined;
  }
}

/** What most executions have none of; shared, and never written to. */
const nothing = new Map<string, never>();

function byIdentity<T>(
  list: readonly T[],
  idOf: (item: T) => Identity | undefined,
): Map<string, T> {
  if (list.length === 0) return nothing as Map<string, T>;
  const map = new Map<string, T>();
  for (const item of list) {
    const id = idOf(item);
    if (id !== undefined) map.set(identityText(id), item); // a gate's question is no call's
  }
  return map;
}

function isReplayed({ entry }: Recorded): boolean {
  return entry.retried !== true;
}

function isInDoubt(wait: Wait): wait is InDoubtWait {
  return wait.kind === "in-doubt";
}

function isAsked(wait: Wait): wait is AskedWait {
  return wait.kind !== "in-doubt";
}

/** Whether a re-run is expected to ask for an entry, and has not. */
function isExpected({ state, sure, entry }: Recorded): boolean {
  return sure && state === "unclaimed" && entry.id.kind !== "moment" && entry.doubt !== "unasked";
}

function taken<T>(map: Map<string, T>, id: Made): T | undefined {
  if (map.size === 0 || !id.keyed) return undefined;
  const key = identityText(id);
  const value = map.get(key);
  if (value !== undefined) map.delete(key);
  return value;
}
