import type { Flow } from "../graph/flow.ts";
import type { State } from "../graph/node.ts";
import type { PendingView } from "../run/pending.ts";

const inspect = Symbol.for("nodejs.util.inspect.custom");

/** Figures of a run so far. */
export interface CountersView {
  readonly rounds: number;
  readonly calls: number;
  readonly cost: number;
  /** Visits begun, by node. */
  readonly visits: Readonly<Record<string, number>>;
}

/** What a checkpoint shows of itself (FLOW-29). */
export interface CheckpointView {
  readonly runId: string;
  readonly flow: string;
  /** Digest of the graph it was made on. */
  readonly digest: string;
  readonly status: "paused";
  readonly revision: number;
  /** What the run has used of its budgets, over all its pauses. */
  readonly counters: CountersView;
  /** Paths of the visits of this round. */
  readonly frontier: readonly string[];
  readonly pendings: readonly PendingView[];
}

/** What a checkpoint of this class holds: its text, as long as nobody has had the bytes. */
let heldBy: (value: object) => string | Uint8Array | undefined;
let bytesOf: (value: object) => Uint8Array | undefined;
let knownOf: (value: object) => Known | undefined;
let know: (checkpoint: Checkpoint, known: Known) => void;

/** What a runner knows of a checkpoint: that this text's seal holds, and what came of opening it. */
interface Known {
  readonly text: string;
  /** Stands for the runner, and keeps nothing of it. */
  readonly by: object;
  readonly opened?: unknown;
}

/** One for all: a getter of its own would give each checkpoint a layout of its own. */
const sealedProperty = {
  get(this: object): Uint8Array | undefined {
    return bytesOf(this);
  },
  enumerable: true,
};

/**
 * Where a paused run stands: a value to keep, in memory or, as the text that `dumpCheckpoint` gives, anywhere.
 *
 * What it shows is for reading; a resume believes the sealed bytes alone. They travel with a structured clone, and are
 * bytes, so that printing or logging one never shows what the run holds.
 */
export class Checkpoint<F extends Flow = Flow> implements CheckpointView {
  readonly runId: string;
  readonly flow: string;
  readonly digest: string;
  readonly status = "paused";
  readonly revision: number;
  readonly counters: CountersView;
  readonly frontier: readonly string[];
  readonly pendings: readonly PendingView[];
  /** The sealed text, in UTF-8. */
  declare readonly sealed: Uint8Array;
  readonly #text: string;
  /** Made when somebody asks for them; from then on they may have been touched, and are what counts. */
  #bytes: Uint8Array | undefined;
  readonly #state: () => State;
  #known: Known | undefined;
  /** Types only; never present. */
  declare readonly types?: { readonly of: F };

  constructor(view: Omit<CheckpointView, "status">, state: () => State, text: string) {
    this.runId = view.runId;
    this.flow = view.flow;
    this.digest = view.digest;
    this.revision = view.revision;
    this.counters = Object.freeze(view.counters);
    this.frontier = Object.freeze([...view.frontier]);
    this.pendings = Object.freeze([...view.pendings]);
    this.#text = text;
    this.#state = state;
    // A property of its own, which a structured clone reads.
    Object.defineProperty(this, "sealed", sealedProperty);
  }

  static {
    heldBy = (value) => (#text in value ? (value.#bytes ?? value.#text) : undefined);
    bytesOf = (value) => (#text in value ? (value.#bytes ??= utf8.encode(value.#text)) : undefined);
    knownOf = (value) => (#text in value ? value.#known : undefined);
    know = (checkpoint, known) => {
      checkpoint.#known = known;
    };
  }

  /** The state at the pause; finished siblings' updates are not merged yet. Gone in a clone. */
  get state(): Readonly<Record<string, unknown>> {
    return this.#state();
  }

  toJSON(): CheckpointView {
    const { runId, flow, digest, status, revision, counters, frontier, pendings } = this;
    return { runId, flow, digest, status, revision, counters, frontier, pendings };
  }

  [inspect](): string {
    const waits = this.pendings
      .map((pending) => `${pending.kind} ${pending.id} at ${pending.path}`)
      .join(", ");
    return `Checkpoint of ${this.flow} run ${this.runId} at revision ${this.revision} (${waits})`;
  }
}

const utf8 = new TextEncoder();
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Says of a checkpoint that this text's seal was made or verified, by whom, and what came of opening it. */
export function vouch(checkpoint: Checkpoint, known: Known): void {
  know(checkpoint, known);
}

/** Whether somebody said so of this very text. */
export function isVouched(checkpoint: Checkpoint, { text, by }: Known): boolean {
  const known = knownOf(checkpoint);
  return known?.by === by && known.text === text;
}

/** What came of opening it; taken, for whoever goes on from it owns it. */
export function takeOpened(checkpoint: Checkpoint, by: object): unknown {
  const known = knownOf(checkpoint);
  if (known?.by !== by) return undefined;
  know(checkpoint, { text: known.text, by });
  return known.opened;
}

/** The sealed text of a checkpoint or of a clone of one; `undefined` for anything else. */
export function sealedText(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const own = heldBy(value);
  if (typeof own === "string") return own;
  const bytes: unknown = own ?? Object.getOwnPropertyDescriptor(value, "sealed")?.value;
  if (!(bytes instanceof Uint8Array)) return undefined;
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}
