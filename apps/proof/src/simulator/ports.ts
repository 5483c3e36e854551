/**
 * The ports of one process: each call waits for the scheduler, and may go wrong on its way there or back.
 *
 * P1 A call does what it does at one moment, when it is chosen; an answer may come later.
 * P2 A process that died hears nothing; what it had sent may still arrive.
 */
import { StoreUnavailable, type CommitOutcome, type Write } from "@holdpoint/approvals";

import type { Chance } from "./chance.ts";
import type { FaultKind } from "./profile.ts";
import { never, type Owner, type Schedule } from "./schedule.ts";
import type { Said } from "./trace.ts";
import { labelOf } from "./write-label.ts";

/** A process as the ports see it. */
export interface Caller extends Owner {
  /** Ends it, with everything it waits for. */
  die(): void;
}

/** What the ports of all processes share. */
export interface Wires {
  readonly schedule: Schedule;
  readonly chance: Chance;
  /** Whether a fault strikes here and now; the first of those that do. */
  strike(kinds: readonly FaultKind[]): FaultKind | undefined;
  told(who: string, what: Said, fate?: string): void;
  /** What a store has applied. */
  committed(home: object, writes: readonly Write[]): void;
}

type Committing = (attemptId: string, writes: readonly Write[]) => Promise<CommitOutcome>;

interface Call<T> {
  readonly caller: Caller;
  readonly wires: Wires;
  readonly what: Said;
  readonly work: () => Promise<T>;
}

interface Sent<T> {
  readonly caller: Caller;
  readonly what: Said;
  readonly work: () => Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

const commitFaults: readonly FaultKind[] = [
  "away",
  "lost-commit",
  "lost-answer",
  "straggler",
  "die-before",
  "die-after",
  "die-sending",
  "slow-answer",
];
const readFaults: readonly FaultKind[] = ["away", "die-before", "slow-answer"];

/** A store whose every call goes over the wires. Members named in `direct` are called as they are. */
export function wired<S extends { readonly home: object; readonly commit: Committing }>(
  store: S,
  name: string,
  caller: Caller,
  wires: Wires,
): S {
  const methods = new Map<PropertyKey, unknown>();
  methods.set("commit", (attemptId: string, writes: readonly Write[]) =>
    committing({
      caller,
      wires,
      what: () => `${name}.commit ${labelOf(writes)} as ${attemptId.slice(0, 4)}`,
      work: async () => {
        const outcome = await store.commit(attemptId, writes);
        const fresh = outcome.status === "done" && !outcome.repeated;
        if (fresh) wires.committed(store.home, writes);
        return outcome;
      },
    }),
  );
  return new Proxy(store, {
    get(target, member) {
      const known = methods.get(member);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(target, member, target);
      if (typeof value !== "function") return value;
      const method = (...args: readonly unknown[]): Promise<unknown> =>
        reading({
          caller,
          wires,
          what: () => `${name}.${String(member)}${readLabel(args)}`,
          work: async () => Reflect.apply(value, target, args) as unknown,
        });
      methods.set(member, method);
      return method;
    },
  });
}

function readLabel(args: readonly unknown[]): string {
  const texts = args.slice(1).map((arg) => {
    if (typeof arg === "string") return arg.length > 12 ? `${arg.slice(0, 4)}…` : arg;
    return typeof arg === "number" ? String(arg) : "…";
  });
  return texts.length === 0 ? "" : ` ${texts.join(" ")}`;
}

/** A call that changes nothing. */
function reading<T>({ caller, wires, what, work }: Call<T>): Promise<T> {
  if (!caller.alive) return never();
  return new Promise((resolve, reject) => {
    const sent = { caller, what, work, resolve, reject };
    wires.schedule.add({ owner: caller, kind: "read", what, happen: () => read(sent, wires) });
  });
}

function read<T>(sent: Sent<T>, wires: Wires): void {
  const { caller, what, reject } = sent;
  const fault = wires.strike(readFaults);
  switch (fault) {
    case "away":
      wires.told(caller.name, what, "the store is away");
      return reject(away());
    case "die-before":
      wires.told(caller.name, what, "the process dies");
      return caller.die();
    case "slow-answer":
      wires.told(caller.name, what, "read, and answered later");
      return answerLater(sent, wires);
    default:
      wires.told(caller.name, what);
      return answer(sent);
  }
}

function committing({ caller, wires, what, work }: Call<CommitOutcome>): Promise<CommitOutcome> {
  if (!caller.alive) return never();
  return new Promise((resolve, reject) => {
    const sent = { caller, what, work, resolve, reject };
    wires.schedule.add({ owner: caller, kind: "commit", what, happen: () => commit(sent, wires) });
  });
}

function commit(sent: Sent<CommitOutcome>, wires: Wires): void {
  const { caller, what, work, resolve, reject } = sent;
  const say = (fate?: string): void => wires.told(caller.name, what, fate);
  const unknown = (): CommitOutcome => ({
    status: "unknown",
    cause: new Error("simulated: no answer came back"),
  });
  switch (wires.strike(commitFaults)) {
    case "away":
      say("the store is away");
      return reject(away());
    case "lost-commit":
      say("lost, nobody knows");
      return resolve(unknown());
    case "lost-answer":
      say("nobody knows, it was");
      return void applied(work, say).then(() => resolve(unknown()));
    case "straggler":
      say("nobody knows, it will arrive");
      straggle(sent, wires);
      return resolve(unknown());
    case "die-before":
      say("the process dies before it");
      return caller.die();
    case "die-after":
      say("the process dies after it, it was");
      caller.die();
      return void applied(work, say);
    case "die-sending":
      say("the process dies, it will arrive");
      straggle(sent, wires);
      return caller.die();
    case "slow-answer":
      say("answered later");
      return answerLater(sent, wires);
    default:
      return void applied(work, say).then(resolve, reject);
  }
}

async function applied(
  work: () => Promise<CommitOutcome>,
  say: (fate: string) => void,
): Promise<CommitOutcome> {
  const outcome = await work();
  say(fateOf(outcome));
  return outcome;
}

function fateOf(outcome: CommitOutcome): string {
  if (outcome.status === "done") return outcome.repeated ? "done before" : "done";
  if (outcome.status === "unknown") return "unknown";
  return `refused at ${outcome.write}: ${outcome.refusal.because}`;
}

// P1
function answerLater<T>(sent: Sent<T>, wires: Wires): void {
  const { caller, what, work, resolve, reject } = sent;
  const done = work();
  const add = (happen: () => void): void =>
    wires.schedule.add({
      owner: caller,
      kind: "reply",
      what,
      happen: () => {
        wires.told(caller.name, what, "answered");
        happen();
      },
    });
  done.then(
    (value) => caller.alive && add(() => resolve(value)),
    (error: unknown) => caller.alive && add(() => reject(error)),
  );
}

function answer<T>({ work, resolve, reject }: Sent<T>): void {
  work().then(resolve, reject);
}

/** P2: on its way, whatever becomes of who sent it. */
function straggle({ caller, what, work }: Sent<CommitOutcome>, wires: Wires): void {
  const happen = (): void =>
    void applied(work, (fate) => wires.told(caller.name, what, `arrives: ${fate}`));
  wires.schedule.add({ owner: caller, kind: "straggler", what, happen });
}

function away(): StoreUnavailable {
  return new StoreUnavailable("simulated: the store is away");
}
