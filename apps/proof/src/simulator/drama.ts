/** What comes from outside while the world is rough: callers, people, deaths and wrong clocks. */
import { decisionTerms, type Decision, type Row } from "@holdpoint/approvals";

import { minuteMs } from "./flows/tools.ts";
import { actor, opinion } from "./people.ts";
import type { Asking } from "./books/asking.ts";
import type { Process } from "./process.ts";
import type { AskedOfRun, World } from "./world.ts";

/** A decision as it was sent, to be sent again. */
interface Sent {
  readonly approvalId: string;
  readonly runId: string;
  readonly decision: Decision;
  readonly attemptId: string;
  readonly label: string;
}

const events = [
  "start",
  "decide",
  "decide again",
  "reply",
  "answer",
  "resolve",
  "take up",
  "cancel",
  "shut down",
  "sweep",
  "boot",
  "crash",
  "time",
  "store clock",
  "wall clock",
  "stall",
  "wake",
] as const;

type OutsideEvent = (typeof events)[number];

export class Drama {
  readonly #world: World;
  readonly #sent: Sent[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Draws something that comes from outside, and lets it. */
  happen(): void {
    const world = this.#world;
    const { chance } = world;
    const drawn = chance.weighed(this.#weights());
    const process = world.awake.length === 0 ? undefined : chance.pick(world.awake);
    if (drawn === "boot") return this.#boot();
    if (drawn === "time") return this.#timePasses();
    if (drawn === "store clock") return this.#moveStoreClock();
    if (drawn === "wake") return this.#wake();
    if (process === undefined || drawn === undefined) return;
    switch (drawn) {
      case "start":
        return this.#start(process);
      case "decide":
        return this.#decide(process);
      case "decide again":
        return this.send(process, chance.pick(this.#sent));
      case "reply":
        return this.#reply(process);
      case "answer":
        return this.#answer(process);
      case "resolve":
        return this.#resolve(process);
      case "take up":
        return world.takeUp(process);
      case "cancel":
        return this.#cancel(process);
      case "shut down":
        return this.#shutDown(process);
      case "sweep":
        return world.ask(process, "sweep", () => process.desk.sweep());
      case "crash":
        world.sometimes.see("fault: crash");
        return process.die();
      case "wall clock":
        return this.#moveWallClock(process);
      case "stall":
        return this.#stall(process);
    }
  }

  #weights(): Readonly<Partial<Record<OutsideEvent, number>>> {
    const world = this.#world;
    const { profile, processes, book } = world;
    const records = book.approvals.size;
    const absent = profile.processes - world.living.length;
    return {
      start: world.asked.length < profile.flows.length ? 4 : 0.3,
      decide: records > 0 ? 6 : 0,
      "decide again": this.#sent.length > 0 ? 1 : 0,
      reply: records > 0 ? 1.5 : 0,
      answer: this.#asked("interrupt").length > 0 ? 5 : 0,
      resolve: world.mayResolve && world.doubts.length > 0 ? 2 : 0,
      "take up": profile.mode === "supervisor" ? 0 : 1.5,
      "shut down": profile.mode === "supervisor" ? 0.3 : 0,
      cancel: this.#wishToCancel(),
      sweep: profile.mode === "supervisor" ? 0 : 0.5, // it finds by itself what ran out
      boot: absent > 0 || processes.length < profile.processes ? 6 : 0,
      crash: profile.faults.crash > 0 ? 0.7 : 0,
      time: profile.mode === "supervisor" ? 4 : 1,
      "store clock": profile.faults["store-clock"] > 0 ? 0.4 : 0,
      "wall clock": profile.faults["wall-clock"] > 0 ? 0.4 : 0,
      stall: profile.faults.stall > 0 && world.awake.length > 1 ? 0.7 : 0,
      wake: world.living.length > world.awake.length ? 0.7 : 0,
    };
  }

  #boot(): void {
    const { profile, processes } = this.#world;
    for (let place = 0; place < profile.processes; place += 1) {
      if (processes[place]?.alive !== true) {
        this.#world.boot(place);
        return;
      }
    }
  }

  /** Callers start what is to be done, and start it again where they heard nothing. */
  #start(process: Process): void {
    const { asked, profile, chance } = this.#world;
    const fresh = asked.length < profile.flows.length;
    const id = fresh ? `${profile.flows[asked.length]!}-${asked.length}` : chance.pick(asked);
    if (fresh) asked.push(id);
    this.#world.start(process, id);
  }

  #decide(process: Process): void {
    const record = this.#record();
    const { chance, profile } = this.#world;
    const decision = opinion(String(record.values["tool"]), chance, profile.moody);
    this.send(process, this.#note(record, decision));
  }

  send(process: Process, { approvalId, decision, attemptId, label }: Sent): void {
    const { approved } = decisionTerms(decision);
    const how = { id: approvalId, decision, attemptId };
    this.#world.ask(
      process,
      label,
      () => process.desk.decide(how),
      (said) => {
        if (said === "decided" || said === "accepted" || said === "already")
          this.#world.acknowledged.decided(approvalId, approved);
        if (said === "already") this.#world.sometimes.see("a decision is repeated");
        if (said === "open") this.#world.sometimes.see("a quorum is open");
        if (said === "superseded") this.#world.sometimes.see("an edit needs somebody else");
      },
    );
  }

  #reply(process: Process): void {
    const record = this.#record();
    const { chance, profile } = this.#world;
    const decision = opinion(String(record.values["tool"]), chance, profile.moody);
    const { approvalId: id, runId, attemptId, label } = this.#note(record, decision);
    this.#world.ask(process, `reply: ${label}`, () =>
      process.desk.reply(runId, { id, decision, attemptId }),
    );
  }

  #asked(kind: Asking["kind"]): readonly AskedOfRun[] {
    return this.#world.askings.filter(({ asking }) => asking.kind === kind);
  }

  /** Somebody answers what is asked; some of them what was asked before. */
  #answer(process: Process): void {
    const { chance } = this.#world;
    const all = this.#asked("interrupt");
    const open = all.filter(({ isOpen }) => isOpen);
    const { runId, asking } = chance.pick(open.length > 0 && chance.happens(0.85) ? open : all);
    this.#world.answer(process, runId, asking.id);
  }

  #resolve(process: Process): void {
    const { chance, doubts } = this.#world;
    this.#world.resolve(process, chance.pick(doubts));
  }

  /** Another one stands still than the one that was drawn goes on. */
  #stall(process: Process): void {
    this.#world.sometimes.see("fault: stall");
    process.stalled = true;
    this.#world.trace.add(process.name, "stands still");
  }

  #wake(): void {
    const { chance, living } = this.#world;
    const process = chance.pick(living.filter(({ stalled }) => stalled));
    process.stalled = false;
    this.#world.trace.add(process.name, "goes on");
  }

  /** Somebody looks at the list; some look at an old one. */
  #record(): Row {
    const { chance, book } = this.#world;
    const all = [...book.approvals.values()];
    const pending = all.filter(({ values }) => values["state"] === "pending");
    return chance.pick(pending.length > 0 && chance.happens(0.85) ? pending : all);
  }

  #note({ key, values }: Row, decision: Decision): Sent {
    const { approved, by, edited } = decisionTerms(decision);
    const verb = approved ? (edited === undefined ? "approves" : "approves edited") : "denies";
    const label = `${by.id} ${verb} ${String(values["tool"])} ${key.slice(0, 6)}`;
    const sent = {
      approvalId: key,
      runId: String(values["runId"]),
      decision,
      attemptId: `sent-${this.#sent.length}`,
      label,
    };
    this.#sent.push(sent);
    return sent;
  }

  #wishToCancel(): number {
    const { profile, runIds } = this.#world;
    if (!profile.cancels || runIds.length === 0) return 0;
    return this.#regretted() === undefined ? 0.3 : 2;
  }

  /** A run that a runner alone has, and that waits with an approval that is given, and not yet used: some wish it back. */
  #regretted(): string | undefined {
    const { profile, book } = this.#world;
    if (profile.mode !== "runner") return undefined;
    for (const { values } of book.approvals.values())
      if (values["state"] === "decided") return String(values["runId"]);
    return undefined;
  }

  #cancel(process: Process): void {
    const world = this.#world;
    const runId = this.#regretted() ?? world.chance.pick(world.runIds);
    world.ask(process, `cancel ${runId.slice(0, 8)}`, () =>
      process.desk.cancel(runId, actor("dana")),
    );
  }

  #shutDown(process: Process): void {
    const { desk } = process;
    this.#world.ask(process, "shut down", async () => {
      const said = await desk.end!();
      process.die();
      return said;
    });
  }

  #timePasses(): void {
    const { chance, time, trace } = this.#world;
    const untilNext = time.untilNext() ?? 0;
    const jumps = [100, 5_000, untilNext, untilNext, untilNext, minuteMs];
    const ms = chance.pick(chance.happens(0.8) ? jumps : [10 * minuteMs, 25 * minuteMs]);
    time.pass(ms);
    trace.add("time", `${ms} ms pass`);
  }

  #moveStoreClock(): void {
    const world = this.#world;
    world.sometimes.see("fault: store-clock");
    world.moveStoreClock(world.chance.pick([-60, -5, 5, 60]) * minuteMs);
    world.trace.add("store", `its clock is ${world.storeWallMs} ms off`);
  }

  #moveWallClock(process: Process): void {
    const world = this.#world;
    world.sometimes.see("fault: wall-clock");
    process.wallMs += world.chance.pick([-525_600, -5, 5, 525_600]) * minuteMs;
    world.trace.add(process.name, `its clock is ${process.wallMs} ms off`);
  }
}
