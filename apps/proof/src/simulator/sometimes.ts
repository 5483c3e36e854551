/**
 * Interesting things that must happen in some world: a simulator that never gets there proves nothing about them.
 */
import type { RunEvent } from "@holdpoint/flow";

import type { LogBook } from "./books/log-book.ts";

/** Every counter; over enough seeds each has to be above 0. */
export const sometimesNames = [
  "a process dies",
  "fault: away",
  "fault: lost-commit",
  "fault: lost-answer",
  "fault: straggler",
  "fault: slow-answer",
  "fault: die-before",
  "fault: die-after",
  "fault: die-sending",
  "fault: crash",
  "fault: store-clock",
  "fault: wall-clock",
  "fault: stall",
  "a commit is known under its attempt id",
  "a straggler is applied",
  "a straggler is refused",
  "a commit is refused by version",
  "a commit is refused as late",
  "a revision is lost to another process",
  "a decision comes too late",
  "a decision comes after the expiry",
  "somebody may not decide",
  "a decision is repeated",
  "a quorum is open",
  "an edit runs",
  "an edit needs somebody else",
  "a denial is spent",
  "an expiry is spent",
  "a settle is announced in a store apart",
  "an idempotent call repeats under its key",
  "a call is in doubt",
  "a call in doubt had run",
  "a call in doubt had not run",
  "a question is answered",
  "a question was answered before",
  "an approval that was taken back is asked for again",
  "a nested run begins",
  "a run sleeps",
  "a sleep ends",
  "a run is cancelled",
  "a run fails",
  "a run completes",
  "a node is visited again",
  "a session is taken over",
  "a lease is renewed",
  "a write is fenced off",
  "a world ends undisturbed",
] as const;

export type SometimesName = (typeof sometimesNames)[number];

export class Sometimes {
  readonly counts = new Map<SometimesName, number>();

  see(name: SometimesName): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** What became of a commit. */
  committed(fate: string): void {
    if (fate === "done before") this.see("a commit is known under its attempt id");
    if (fate === "arrives: done") this.see("a straggler is applied");
    if (fate.startsWith("arrives: refused")) this.see("a straggler is refused");
    if (fate.endsWith(": version")) this.see("a commit is refused by version");
    if (fate.endsWith(": fenced")) this.see("a write is fenced off");
    if (fate.endsWith(": late")) this.see("a commit is refused as late");
  }

  /** What a caller heard instead of an answer. */
  refused(code: string): void {
    if (code === "revision-conflict") this.see("a revision is lost to another process");
    if (code === "approval-already-decided") this.see("a decision comes too late");
    if (code === "answer-unknown") this.see("a question was answered before");
    if (code === "approval-expired") this.see("a decision comes after the expiry");
    if (code === "actor-excluded" || code === "actor-not-eligible")
      this.see("somebody may not decide");
  }

  /** An event that was applied. */
  logged(event: RunEvent, { events }: LogBook): void {
    switch (event.type) {
      case "answered":
        for (const answer of event.answers) {
          if (answer.kind === "interrupt") this.see("a question is answered");
          if (answer.kind === "in-doubt")
            this.see(`a call in doubt had ${answer.verdict.is === "ran" ? "run" : "not run"}`);
          if (answer.kind !== "approval") continue;
          const { decision } = answer;
          if (decision.reason === "expired") this.see("an expiry is spent");
          else if (!decision.approved) this.see("a denial is spent");
          if (decision.edited !== undefined) this.see("an edit runs");
        }
        break;
      case "in-doubt":
        this.see("a call is in doubt");
        break;
      case "superseded":
        if (event.again) this.see("an approval that was taken back is asked for again");
        break;
      case "nested-started":
        this.see("a nested run begins");
        break;
      case "sleeping":
        this.see("a run sleeps");
        break;
      case "deadline-fired":
        this.see("a sleep ends");
        break;
      case "settling":
        this.see("a settle is announced in a store apart");
        break;
      case "cancelled":
        this.see("a run is cancelled");
        break;
      case "failed":
        this.see("a run fails");
        break;
      case "completed":
        this.see("a run completes");
        break;
      case "visit-started":
        if (/#[2-9]/.test(event.visit) && events.length > 0) this.see("a node is visited again");
        break;
      default:
        break;
    }
  }
}
