/**
 * One simulated world: processes over shared stores, people, a schedule, and a chance that decides everything.
 *
 * W1 One step at a time: something that may happen is chosen, happens, and all code comes to rest.
 * W2 After each step the invariants are looked at; what is wrong stops the world.
 */
import { DeferredApproval, memoryHome, type SealedRecords } from "@holdpoint/approvals";
import { testIds } from "@holdpoint/testing";

import { Acknowledged } from "./books/acknowledged.ts";
import type { Asking, Doubt } from "./books/asking.ts";
import { Effects } from "./books/effects.ts";
import { checkShown } from "./books/shown.ts";
import { StoreBook } from "./books/store-book.ts";
import { Chance } from "./chance.ts";
import { scope } from "./desk.ts";
import { errorLabel, isExpected } from "./expected.ts";
import { resultOf, toolKinds, type Args } from "./flows/tools.ts";
import { keyring } from "./keyring.ts";
import type { Wires } from "./ports.ts";
import { Process, Slot, type Surroundings } from "./process.ts";
import type { FaultKind, FlowName, Profile } from "./profile.ts";
import { Schedule, settled } from "./schedule.ts";
import { Sometimes } from "./sometimes.ts";
import { storesOn, type Stores } from "./stores.ts";
import { Trace } from "./trace.ts";
import { VirtualTime } from "./virtual-time.ts";

/** Something that a run asked, or sleeps for. */
export interface AskedOfRun {
  readonly runId: string;
  readonly asking: Asking;
  readonly isOpen: boolean;
}

export interface DoubtOfRun {
  readonly runId: string;
  readonly doubt: Doubt;
}

/** Code outlives worlds: each place for a process has its flows built once. */
const slots: Slot[] = [];

export class World {
  readonly profile: Profile;
  readonly chance: Chance;
  readonly time = new VirtualTime();
  readonly schedule = new Schedule();
  readonly trace = new Trace();
  readonly sometimes = new Sometimes();
  readonly book: StoreBook;
  readonly effects: Effects;
  readonly acknowledged: Acknowledged;
  readonly records: SealedRecords;
  readonly processes: Process[] = [];
  readonly faults: string[] = [];
  /** Runs that were asked for, by the caller's id. */
  readonly asked: string[] = [];
  /** How far the stores' clock is off. */
  storeWallMs = 0;
  /** Whether things go wrong. */
  rough = true;
  readonly stores: Stores;
  /** A way to the records that nothing goes wrong on, for whoever looks at a world from outside. */
  readonly port: DeferredApproval;
  readonly #around: Surroundings;
  #booted = 0;
  #storeWallMaxMs = 0;

  constructor(seed: number, profile: Profile, chance: Chance) {
    this.profile = profile;
    this.chance = chance;
    const clock = this.time.clockOf({ alive: true }, () => this.storeWallMs);
    const first = memoryHome({ clock });
    const together = profile.layout === "together";
    const other = () => (together ? first : memoryHome({ clock }));
    const log = other();
    // Supervisors keep log, registry and leases in one place.
    const homes = { approvals: first, log, runs: profile.mode === "supervisor" ? log : other() };
    this.book = new StoreBook(
      homes,
      (event, log) => this.sometimes.logged(event, log),
      (what) => this.sometimes.see(what),
    );
    this.effects = new Effects(toolKinds, this.book);
    this.acknowledged = new Acknowledged(this.book);
    const stores = storesOn(homes);
    const ids = testIds(seed ^ 0x5eed);
    this.stores = stores;
    this.port = new DeferredApproval(stores.approvals, { keyring, ids });
    this.records = this.port.records;
    this.#around = {
      mode: profile.mode,
      stores,
      ids,
      time: this.time,
      wires: this.#wires(),
      act: (process, tool, args, context) =>
        this.#act(process, {
          tool,
          runId: context.runId,
          callId: context.callId,
          key: context.idempotencyKey,
          args: JSON.stringify({ id: args.id, n: args.n }),
        }).then(() => resultOf(tool, args)),
      heard: (process, { runId, revision }) => {
        if (revision > this.book.log(runId).events.length)
          this.faults.push(`${process.name} told of ${runId}#${revision} before it was on record`);
      },
      logged: (process, message, facts) => {
        const code = typeof facts["code"] === "string" ? facts["code"] : "";
        this.trace.add(process.name, message, code);
        if (code !== "" && !isExpected(code))
          this.faults.push(`${process.name}: ${message}: ${code}`);
      },
      died: (process) => {
        this.sometimes.see("a process dies");
        this.trace.add(process.name, "is gone");
      },
    };
  }

  moveStoreClock(byMs: number): void {
    this.storeWallMs += byMs;
    this.#storeWallMaxMs = Math.max(this.#storeWallMaxMs, this.storeWallMs);
  }

  /** A clock that was put back only delays what waits for it: in the end it reads again what it read at its furthest. */
  putStoreClockRight(): void {
    this.storeWallMs = this.#storeWallMaxMs;
  }

  /** Starts a process in a place where none lives. */
  boot(place: number): Process {
    const slot = (slots[place] ??= new Slot());
    this.#booted += 1;
    const process = new Process(`p${place}.${this.#booted}`, slot, this.#around);
    this.processes[place] = process;
    this.trace.add(process.name, "starts");
    this.#begin(process);
    return process;
  }

  #begin(process: Process): void {
    const { desk } = process;
    if (desk.begin === undefined) return;
    this.ask(process, "begin", () =>
      desk.begin!().catch((error: unknown) => {
        process.die(); // its program ends
        throw error;
      }),
    );
  }

  get living(): readonly Process[] {
    return this.processes.filter(({ alive }) => alive);
  }

  /** Those that do not stand still. */
  get awake(): readonly Process[] {
    return this.living.filter(({ stalled }) => !stalled);
  }

  /** What runs asked beside approvals, and what they sleep for. */
  get askings(): readonly AskedOfRun[] {
    return [...this.book.logs.values()].flatMap(({ runId, askings, ended }) => {
      const open = new Set(ended ? [] : askings.open);
      return [...askings.all.values()].map((asking) => {
        return { runId, asking, isOpen: open.has(asking) };
      });
    });
  }

  /** Calls in doubt about which somebody can know: their code is not under way anywhere. */
  get doubts(): readonly DoubtOfRun[] {
    return this.askings.flatMap(({ runId, asking, isOpen }) => {
      if (!isOpen || asking.kind !== "in-doubt") return [];
      return this.schedule.isUnderWay(asking.key) ? [] : [{ runId, doubt: asking }];
    });
  }

  /** Without leases, whoever says what became of a call has to know that nobody works on its run. */
  get mayResolve(): boolean {
    const { mode, processes } = this.profile;
    return mode === "supervisor" || processes === 1;
  }

  /** Runs on any record. */
  get runIds(): readonly string[] {
    return [...new Set([...this.book.runs.keys(), ...this.book.logs.keys()])];
  }

  /** What the caller of a run called it. */
  callerIdOf(runId: string): string {
    const key = this.book.runs.get(runId)?.values["startKey"];
    return key === undefined || key === null ? runId : String(key);
  }

  /** Whether anything went wrong here. */
  get disturbed(): boolean {
    return [...this.sometimes.counts.keys()].some((name) => name.startsWith("fault: "));
  }

  /** A process is told to take up what nobody works on. */
  takeUp(process: Process, runIds: readonly string[] = this.runIds): void {
    if (this.profile.mode !== "runner")
      return this.ask(process, "take up", () => process.desk.takeUp(runIds));
    for (const runId of runIds)
      this.ask(process, `take up ${runId}`, () => process.desk.takeUp([runId]));
  }

  /** A caller starts a run, or starts it again. */
  start(process: Process, id: string, heard?: () => void): void {
    const flow = id.split("-")[0] as FlowName;
    this.ask(process, `start ${id}`, () => process.desk.start(flow, id), heard);
  }

  /** Somebody answers what a run's code asks. */
  answer(process: Process, runId: string, id: string): void {
    const what = `answer ${runId.slice(0, 8)} ${id.slice(0, 6)}`;
    this.ask(
      process,
      what,
      () => process.desk.answer(runId, id),
      (said) => said !== "busy" && this.acknowledged.answered(runId, id),
    );
  }

  /** Somebody who knows says what became of a call in doubt. */
  resolve(process: Process, { runId, doubt: { id, tool, key } }: DoubtOfRun): void {
    const act = this.effects.happened(key);
    const ran = act && resultOf(tool, JSON.parse(act.args) as Args);
    const what = `${tool} ${ran === undefined ? "did not run" : "ran"}, ${runId.slice(0, 8)} ${id.slice(0, 6)}`;
    this.ask(
      process,
      what,
      () => process.desk.resolve(runId, { id, tool, ran }),
      (said) => said !== "busy" && this.acknowledged.answered(runId, id),
    );
  }

  /** Somebody outside asks a process for something, and may hear what became of it. */
  ask(
    process: Process,
    what: string,
    work: () => Promise<string>,
    hear: (said: string) => void = () => undefined,
  ): void {
    this.trace.add(process.name, what, "asked");
    work().then(
      (said) => {
        this.trace.add(process.name, what, said);
        hear(said);
      },
      (error: unknown) => {
        const label = errorLabel(error);
        this.trace.add(process.name, what, label);
        this.sometimes.refused(label);
        if (!isExpected(label)) this.faults.push(`${process.name}: ${what}: ${label}`);
      },
    );
  }

  /** W1, W2 */
  async step(happen: () => void): Promise<boolean> {
    happen();
    await settled();
    await checkShown(this.effects, this.book, this.records, scope);
    const found = [this.faults, this.book.faults, this.effects.faults, this.acknowledged.faults];
    this.faults.push(...found.slice(1).flatMap((faults) => faults.splice(0)));
    return this.faults.length === 0;
  }

  /** Something that waits to happen: a call, an answer, a timer that is due. */
  choose(): (() => void) | undefined {
    const { open } = this.schedule;
    const due = this.time.due();
    if (open.length + due.length === 0) return undefined;
    const at = this.chance.below(open.length + due.length);
    const waiting = open[at];
    if (waiting === undefined) return () => this.time.fire(due[at - open.length]!);
    return () => {
      this.schedule.take(waiting);
      waiting.happen();
    };
  }

  /** A fault is drawn where things may go wrong. */
  strikes(kind: FaultKind): boolean {
    const likelihood = this.profile.faults[kind];
    return this.rough && likelihood > 0 && this.chance.happens(likelihood);
  }

  #wires(): Wires {
    return {
      schedule: this.schedule,
      chance: this.chance,
      strike: (kinds) => {
        const kind = kinds.find((one) => this.strikes(one));
        if (kind !== undefined) this.sometimes.see(`fault: ${kind}`);
        return kind;
      },
      told: (who, what, fate) => {
        this.trace.add(who, what, fate);
        if (fate !== undefined) this.sometimes.committed(fate);
      },
      committed: (home, writes) => {
        if (home === this.stores.leases.home) this.book.fenced(writes);
      },
    };
  }

  /** A tool's code is entered; what it does happens when it is chosen. */
  #act(process: Process, act: Parameters<Effects["enter"]>[0]): Promise<void> {
    const { tool, runId } = act;
    const entered = this.effects.enter(act, process.readTo.get(runId) ?? 0);
    if (entered === "again") this.sometimes.see("an idempotent call repeats under its key");
    const what = `${tool} ${act.args}`;
    return new Promise((resolve) => {
      this.schedule.add({
        owner: process,
        kind: "tool",
        what,
        key: act.key,
        happen: () => {
          const kind = (["die-before", "die-after"] as const).find((one) => this.strikes(one));
          this.trace.add(process.name, what, kind === undefined ? "happens" : kind);
          if (kind === "die-before") return process.die();
          this.effects.happen(act);
          if (kind === "die-after") return process.die();
          resolve();
        },
      });
    });
  }
}
