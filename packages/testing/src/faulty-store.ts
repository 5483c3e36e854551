/**
 * A store that fails as planned (TEST-04): a wrapper, so nothing of it is in what ships.
 *
 * X1 Commits are counted from 1, whatever their outcome. A fault strikes the commit that it is planned for.
 * X2 What the store itself does is untouched: a fault decides whether a commit reaches it, and what the caller is told.
 * X3 A store that died answers nothing any more, reads included: the process that used it is gone. Whoever starts again uses
 *    the store beneath.
 */

import {
  StoreUnavailable,
  type Clock,
  type CommitOutcome,
  type Committer,
  type Write,
} from "@holdpoint/approvals";

/** What goes wrong with one commit. */
export type FaultKind =
  /** It does not get there: `store-unavailable`, nothing applied. */
  | "fail"
  /** It is refused, as if somebody else had moved the first row. */
  | "refuse"
  /** It gets lost on the way: nothing applied, and the caller is told `unknown`. */
  | "lose-commit"
  /** It is applied, and its answer gets lost: the caller is told `unknown`. */
  | "lose-answer"
  /** It waits until `release()`, or for `delayMs` on the clock. */
  | "delay"
  /** The process dies before it is applied. */
  | "die-before"
  /** The process dies after it was applied and before it was told. */
  | "die-after";

export interface Fault {
  /** The number of the commit, from 1; or which commits, by what is written. */
  readonly at: number | ((commit: CommitCall) => boolean);
  readonly kind: FaultKind;
  /** How often it strikes where `at` is a function; default 1. */
  readonly times?: number;
  /** Of a delay; without it, until `release()`. Needs a clock. */
  readonly delayMs?: number;
}

export interface CommitCall {
  readonly number: number;
  readonly attemptId: string;
  readonly writes: readonly Write[];
}

export interface FaultControl {
  /** Commits so far. */
  readonly commits: number;
  /** Faults that struck, in order. */
  readonly struck: readonly { readonly number: number; readonly kind: FaultKind }[];
  readonly dead: boolean;
  /** Resolves when the store dies. */
  readonly died: Promise<void>;
  /** Lets go what is delayed without a time. */
  release(): void;
}

export interface FaultyOptions {
  /** Times the delays that have a length. */
  readonly clock?: Clock;
}

/** A store that does what `store` does, but for the planned faults. */
export function faultyStore<S extends Committer>(
  store: S,
  plan: readonly Fault[],
  { clock }: FaultyOptions = {},
): { readonly store: S; readonly control: FaultControl } {
  const { strike, struck } = scheduleOf(plan);
  const { delay, release } = delays(clock);
  const death = signal();
  let commits = 0;
  let dead = false;

  const die = (): Promise<never> => {
    dead = true;
    death.resolve();
    return never();
  };

  async function commit(attemptId: string, writes: readonly Write[]): Promise<CommitOutcome> {
    commits += 1;
    const fault = strike({ number: commits, attemptId, writes });
    switch (fault?.kind) {
      case "fail":
        throw new StoreUnavailable("planned: the store is away");
      case "refuse":
        return { status: "refused", write: 0, refusal: { because: "version", stands: undefined } };
      case "lose-commit":
        return { status: "unknown", cause: new Error("planned: the commit was lost") };
      case "lose-answer":
        await store.commit(attemptId, writes);
        return { status: "unknown", cause: new Error("planned: the answer was lost") };
      case "delay":
        await delay(fault);
        return store.commit(attemptId, writes);
      case "die-before":
        return die();
      case "die-after":
        await store.commit(attemptId, writes);
        return die();
      case undefined:
        return store.commit(attemptId, writes);
    }
  }

  const control: FaultControl = {
    get commits() {
      return commits;
    },
    struck,
    get dead() {
      return dead;
    },
    died: death.promise,
    release,
  };
  return { store: wrapped(store, commit, () => dead), control };
}

/** Which fault strikes which commit (X1). */
function scheduleOf(plan: readonly Fault[]) {
  const left = plan.map((fault) => (typeof fault.at === "number" ? 1 : (fault.times ?? 1)));
  const struck: { readonly number: number; readonly kind: FaultKind }[] = [];

  function strike(call: CommitCall): Fault | undefined {
    const index = plan.findIndex(
      ({ at }, place) =>
        left[place]! > 0 && (typeof at === "number" ? at === call.number : at(call)),
    );
    const fault = plan[index];
    if (fault === undefined) return undefined;
    left[index]! -= 1;
    struck.push({ number: call.number, kind: fault.kind });
    return fault;
  }

  return { strike, struck };
}

function delays(clock: Clock | undefined) {
  const held = new Set<() => void>();

  async function delay({ delayMs }: Fault): Promise<void> {
    const { promise, resolve } = signal();
    if (delayMs === undefined) held.add(resolve);
    else if (clock === undefined) throw new Error("a delay with a length needs a clock");
    else clock.timer(delayMs, resolve);
    return promise;
  }

  function release(): void {
    for (const go of held) go();
    held.clear();
  }

  return { delay, release };
}

function wrapped<S extends Committer>(store: S, commit: S["commit"], dead: () => boolean): S {
  const guarded: S["commit"] = (attemptId, writes) =>
    dead() ? never() : commit(attemptId, writes);
  const methods = new Map<PropertyKey, unknown>([["commit", guarded]]);
  return new Proxy(store, {
    get(target, name) {
      const known = methods.get(name);
      if (known !== undefined) return known;
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      const method = (...how: readonly unknown[]): unknown =>
        dead() ? never() : Reflect.apply(member, target, how); // X3
      methods.set(name, method);
      return method;
    },
  });
}

function never(): Promise<never> {
  return new Promise<never>(() => undefined);
}

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

/**
 * Picks the commit that puts event number `revision` of a run into its log: where a run dies "at event N" (TEST-03).
 *
 * @example
 * faultyStore(store, [{ at: atEvent(7), kind: "die-before" }]);
 */
export function atEvent(revision: number, runId?: string): (commit: CommitCall) => boolean {
  return ({ writes }) =>
    writes.some(
      ({ statement, values }) =>
        statement === "log.append" &&
        values["revision"] === revision &&
        (runId === undefined || values["run"] === runId),
    );
}
