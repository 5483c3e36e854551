/**
 * What every store applied, in order, and what of it breaks an invariant. Fed by the stores' own feed, so nothing that a
 * process believes gets in.
 *
 * I1 A record is consumed once, by one attempt, and that attempt's run says so. State only moves on.
 * I4 Epochs rise, and no write under an older one is applied.
 * I5 The registry moves as WF-10 says.
 * I11 Each move of a record has its entry in the trail, in the same commit.
 */
import type { AppliedWrite, Row, Write } from "@holdpoint/approvals";
import type { RunEvent } from "@holdpoint/flow";
import { mayMove, type RunStatus } from "@holdpoint/workflows";

import type { SometimesName } from "../sometimes.ts";
import type { Homes } from "../stores.ts";
import { LogBook } from "./log-book.ts";

/** Told of everything interesting that was applied. */
export type Heard = (event: RunEvent, book: LogBook) => void;

const order = ["pending", "decided", "consumed"];

export class StoreBook {
  readonly logs = new Map<string, LogBook>();
  readonly approvals = new Map<string, Row>();
  readonly runs = new Map<string, Row>();
  readonly faults: string[] = [];
  /** The newest epoch of each lease. */
  readonly epochs = new Map<string, number>();
  /** Attempts that consumed, by record. */
  readonly consumedBy = new Map<string, string>();
  readonly #successors = new Map<string, string>();
  readonly #heard: Heard;
  readonly #tell: (what: SometimesName) => void;
  readonly #together: boolean;

  constructor({ approvals, log, runs }: Homes, heard: Heard, tell: (what: SometimesName) => void) {
    this.#heard = heard;
    this.#tell = tell;
    this.#together = log === runs;
    for (const home of new Set([approvals, log, runs]))
      home.watch((applied) => this.#applied(applied));
  }

  /** The record that took a record's place because of an edit, or itself. */
  standingFor(approvalId: string): string {
    const next = this.#successors.get(approvalId);
    return next === undefined ? approvalId : this.standingFor(next);
  }

  log(runId: string): LogBook {
    let book = this.logs.get(runId);
    if (book === undefined) this.logs.set(runId, (book = new LogBook(runId)));
    return book;
  }

  #applied(applied: readonly AppliedWrite[]): void {
    const events: { readonly event: RunEvent; readonly book: LogBook }[] = [];
    for (const write of applied) {
      switch (write.table) {
        case "log":
          events.push(this.#logged(write.row));
          break;
        case "approvals":
          this.#approval(write, applied);
          break;
        case "runs":
          this.#run(write);
          break;
        case "leases":
          this.#lease(write);
          break;
      }
    }
    for (const { event, book } of events) {
      this.#spentOnRecord(event, book);
      this.#heard(event, book);
    }
    if (this.#together) for (const { book } of events) this.#agrees(book);
  }

  #logged(row: Row): { readonly event: RunEvent; readonly book: LogBook } {
    const book = this.log(String(row.values["run"]));
    const { event, faults } = book.append(row);
    this.faults.push(...faults);
    return { event, book };
  }

  #approval({ row, previous }: AppliedWrite, applied: readonly AppliedWrite[]): void {
    const [before, after] = [previous?.values["state"], row.values["state"]];
    this.approvals.set(row.key, row);
    if (order.indexOf(String(after)) < order.indexOf(String(before ?? "pending")))
      this.faults.push(`approval ${row.key} went from ${before} back to ${after}`);
    if (after === "consumed" && before !== "consumed") {
      this.consumedBy.set(row.key, row.attempt);
      const next = applied.find((other) => isSuccessor(other, row));
      if (next !== undefined) this.#successors.set(row.key, next.row.key);
    }
    const trail = applied.some(
      (other) => other.table === "approvalAudit" && other.row.key.startsWith(`${row.key}/`),
    );
    if (!trail) this.faults.push(`approval ${row.key} moved to ${after} without an audit entry`); // I11
  }

  /** I1: what a run says that it spent is consumed, by that very attempt, for that very run. */
  #spentOnRecord(event: RunEvent, { runId }: LogBook): void {
    if (event.type !== "answered") return;
    for (const answer of event.answers) {
      if (answer.kind !== "approval" || answer.approvalId === undefined) continue;
      const { decision } = answer;
      const approvalId = this.standingFor(answer.approvalId);
      const record = this.approvals.get(approvalId);
      if (record?.values["state"] !== "consumed")
        this.faults.push(`run ${runId} goes on by ${approvalId}, which is not consumed`);
      if (record?.values["runId"] !== runId)
        this.faults.push(`run ${runId} goes on by ${approvalId}, which is another run's`);
      if (decision.approved && this.consumedBy.get(approvalId) !== event.attemptId)
        this.faults.push(`run ${runId} goes on by ${approvalId}, which another attempt consumed`);
    }
  }

  // I5
  #run({ row, previous }: AppliedWrite): void {
    this.runs.set(row.key, row);
    const before = previous?.values["status"] as RunStatus | undefined;
    const after = row.values["status"] as RunStatus;
    if (before === undefined || before === after) return;
    if (mayMove(before, after)) return;
    // A registry in a database of its own may have missed what came between.
    if (!this.#together && before !== "completed" && before !== "failed" && before !== "cancelled")
      return;
    this.faults.push(`run ${row.key} moved from ${before} to ${after}`);
  }

  // I4
  #lease({ row, previous }: AppliedWrite): void {
    const [before, after] = [Number(previous?.values["epoch"] ?? 0), Number(row.values["epoch"])];
    if (before > 0 && after > before) this.#tell("a session is taken over");
    if (before > 0 && after === before) this.#tell("a lease is renewed");
    if (after < before) this.faults.push(`lease ${row.key} went from epoch ${before} to ${after}`);
    this.epochs.set(row.key, after);
  }

  /** I4: what was applied where the leases are was written by whoever holds them. */
  fenced(writes: readonly Write[]): void {
    for (const { statement, key, fence } of writes) {
      const epoch = fence === undefined ? undefined : this.epochs.get(fence.name);
      if (fence === undefined || epoch === undefined || fence.epoch >= epoch) continue;
      this.faults.push(`${statement} ${key} was applied under epoch ${fence.epoch} of ${epoch}`);
    }
  }

  /** In one database the registry says what the log says, at every commit. */
  #agrees({ runId, status }: LogBook): void {
    const row = this.runs.get(runId);
    if (row === undefined) return; // runners by hand keep no registry
    const says = String(row.values["status"]);
    if (says !== status) this.faults.push(`run ${runId} is ${says}, and its log says ${status}`);
  }
}

/** A record that is opened, for the same call, in the commit that closes another one. */
function isSuccessor({ table, row, previous }: AppliedWrite, closed: Row): boolean {
  const opened = table === "approvals" && previous === undefined;
  return opened && row.values["requestKey"] === closed.values["requestKey"];
}
