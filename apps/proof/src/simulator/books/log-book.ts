/**
 * A run's log as it was applied, entry by entry, beside the store and independent of the code that reads it.
 *
 * I3 Revisions are 1 to n without a gap, each sealed with the MAC of the one before.
 * I5 Nothing comes after a run's end.
 * I1 An approval is spent once.
 */
import { callIdOf, idempotencyKeyOf, type CallIdentity } from "@holdpoint/tools";
import { createSealer, verify } from "@holdpoint/seal";
import type { Row } from "@holdpoint/approvals";
import type { EventOf, RunEvent } from "@holdpoint/flow";

import { keyring } from "../keyring.ts";
import { Askings } from "./asking.ts";
import { wholeEntry } from "./whole-entry.ts";

/** A call that began: nobody knows whether it ran until it ends. */
interface Begun {
  readonly tool: string;
  readonly idempotent: boolean;
}

/** A decision that was spent. */
export type Answer = Extract<EventOf<"answered">["answers"][number], { kind: "approval" }>;

/** An answer to something else. */
type Told = Exclude<EventOf<"answered">["answers"][number], { kind: "approval" }>;

export type LogStatus = "none" | "running" | "interrupted" | "completed" | "failed" | "cancelled";

const sealer = createSealer({});

export class LogBook {
  readonly runId: string;
  readonly events: RunEvent[] = [];
  /** Calls that began and have no end on record, by idempotency key. */
  readonly begun = new Map<string, Begun>();
  /** Ends of calls: the revision, by idempotency key. */
  readonly finished = new Map<string, number>();
  /** Calls that were denied. */
  readonly denied = new Set<string>();
  /** What was spent, by call. */
  readonly answers = new Map<string, { readonly answer: Answer; readonly attemptId: string }>();
  /** Questions of the code that were answered, by their ids. */
  readonly words = new Set<string>();
  /** The same with calls in doubt. */
  readonly heard = new Set<string>();
  readonly askings = new Askings((call) => this.#keyOf(call));
  readonly #spent = new Set<string>();
  /** Calls whose questions were replaced, by the new question's call id. */
  readonly #calls = new Map<string, string>();
  /** Whole, by revision. */
  readonly #texts: string[] = [];
  #mac = "";
  status: LogStatus = "none";
  /** Announced, and not yet known to be spent. */
  settling: string | undefined;

  constructor(runId: string) {
    this.runId = runId;
  }

  get ended(): boolean {
    return this.status === "completed" || this.status === "failed" || this.status === "cancelled";
  }

  /** How often a person said of a call that it had not run. */
  cleared(key: string): number {
    return this.askings.cleared(key);
  }

  /** Takes an entry in; answers what is wrong with it. */
  append(row: Row): { readonly event: RunEvent; readonly faults: readonly string[] } {
    const faults: string[] = [];
    const revision = Number(row.values["revision"]);
    if (row.version !== 1) faults.push(`entry ${revision} was written ${row.version} times`);
    if (revision !== this.events.length + 1)
      faults.push(`entry ${revision} came after ${this.events.length} entries`);
    const kept = String(row.values["text"]);
    const text = wholeEntry(kept, (earlier) => this.#texts[earlier - 1] ?? "");
    this.#texts.push(text);
    const { header, body, mac } = verify(text, {
      keyring,
      purpose: "log-entry",
    });
    if (header["run"] !== this.runId || header["rev"] !== revision || header["prev"] !== this.#mac)
      faults.push(`entry ${revision} is not chained to the one before`);
    this.#mac = mac;
    const event = sealer.decode(body) as RunEvent;
    if (this.ended) faults.push(`'${event.type}' came after the run was ${this.status}`);
    this.events.push(event);
    faults.push(...this.#follow(event, revision));
    return { event, faults: faults.map((fault) => `run ${this.runId}: ${fault}`) };
  }

  #follow(event: RunEvent, revision: number): readonly string[] {
    this.askings.follow(event);
    switch (event.type) {
      case "approval-requested":
        return this.#asked(event);
      case "call-started":
        return this.#began(event);
      case "call-finished":
      case "call-unjournaled":
        return this.#end(event, revision);
      case "settling":
        this.settling = event.attemptId;
        this.status = "running";
        return [];
      case "answered":
        return this.#answered(event, revision);
      case "run-started":
      case "deadline-fired":
        this.status = "running";
        return [];
      case "paused":
        this.status = "interrupted";
        return [];
      case "completed":
      case "failed":
      case "cancelled":
        this.status = event.type;
        return [];
      default:
        return [];
    }
  }

  #began(event: EventOf<"call-started">): readonly string[] {
    const key = this.#keyOf(event);
    const faults: string[] = [];
    if (this.begun.has(key)) faults.push(`'${event.call.name}' began twice`);
    if (this.finished.has(key)) faults.push(`'${event.call.name}' began after its end`);
    this.begun.set(key, { tool: event.call.name, idempotent: event.idempotent });
    return faults;
  }

  #end(
    event: EventOf<"call-finished"> | EventOf<"call-unjournaled">,
    revision: number,
  ): readonly string[] {
    const key = this.#keyOf(event);
    const twice = this.finished.has(key);
    const outcome = event.type === "call-finished" ? event.outcome : undefined;
    if (outcome?.ok === false && outcome.error.code === "approval-denied")
      this.denied.add(callIdOf(this.#identityOf(event)));
    this.begun.delete(key);
    this.finished.set(key, revision);
    return twice ? [`'${event.call.name}' has two ends`] : [];
  }

  // I1
  #answered({ answers, attemptId }: EventOf<"answered">, revision: number): readonly string[] {
    const faults: string[] = [];
    this.settling = undefined;
    this.status = "running";
    for (const answer of answers) {
      if (answer.kind !== "approval") {
        faults.push(...this.#toldOf(answer, revision));
        continue;
      }
      this.answers.set(answer.callId, { answer, attemptId });
      // Asked again under another id, it is the same call to a run that nothing disturbs.
      const call = this.#calls.get(answer.callId);
      if (call !== undefined) this.answers.set(call, { answer, attemptId });
      const { approvalId } = answer;
      if (approvalId === undefined) continue;
      if (this.#spent.has(approvalId)) faults.push(`approval ${approvalId} was spent twice`);
      this.#spent.add(approvalId);
    }
    return faults;
  }

  /** What a person said of a question, or of a call in doubt: once. */
  #toldOf(answer: Told, revision: number): readonly string[] {
    const { callId, kind } = answer;
    const asked = this.askings.answered(callId);
    this.heard.add(callId);
    if (asked?.kind !== kind) return [`'${callId}' was answered, and is not open`];
    if (answer.kind === "interrupt") {
      this.words.add(callId);
      return [];
    }
    if (asked.kind !== "in-doubt") return [];
    this.begun.delete(asked.key);
    if (answer.verdict.is === "did-not-run") this.askings.clear(asked.key);
    else this.finished.set(asked.key, revision);
    return [];
  }

  #asked({ visit, wait: { id, callId } }: EventOf<"approval-requested">): readonly string[] {
    if (id !== undefined) this.#calls.set(callId, callIdOf(this.#identityOf({ visit, call: id })));
    return [];
  }

  #keyOf({ visit, call }: { visit: string; call: EventOf<"call-started">["call"] }): string {
    return idempotencyKeyOf(this.#identityOf({ visit, call }));
  }

  #identityOf({
    visit: node,
    call: { name: tool, key, number },
  }: {
    visit: string;
    call: EventOf<"call-started">["call"];
  }): CallIdentity {
    return { runId: this.runId, node, tool, key, number };
  }
}
