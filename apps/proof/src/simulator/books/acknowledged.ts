/** What callers were told, and what has to be on record from then on (WF-31). */
import type { StoreBook } from "./store-book.ts";

export class Acknowledged {
  readonly faults: string[] = [];
  readonly #book: StoreBook;
  /** What was said to have been decided, by record. */
  readonly #decided = new Map<string, boolean>();

  constructor(book: StoreBook) {
    this.#book = book;
  }

  /** Somebody was told that their decision is the one that stands. */
  decided(approvalId: string, approved: boolean): void {
    const state = this.#book.approvals.get(approvalId)?.values["state"];
    if (state === undefined || state === "pending")
      this.faults.push(`a decision on ${approvalId} was acknowledged, and it is ${state}`);
    const before = this.#decided.get(approvalId);
    if (before !== undefined && before !== approved)
      this.faults.push(`two decisions on ${approvalId} were acknowledged`);
    this.#decided.set(approvalId, approved);
  }

  /** Somebody was told that what they answered is on record. */
  answered(runId: string, id: string): void {
    if (!this.#book.log(runId).heard.has(id))
      this.faults.push(`an answer to ${id} of ${runId} was acknowledged, and it is not on record`);
  }

  started(runId: string): void {
    if (!this.#book.runs.has(runId) && this.#book.log(runId).events.length === 0)
      this.faults.push(`the start of ${runId} was acknowledged, and it is not on record`);
  }

  /** What was spent is what was acknowledged. */
  check(): readonly string[] {
    const faults: string[] = [];
    for (const { runId, answers } of this.#book.logs.values()) {
      for (const { answer } of answers.values()) {
        const { approvalId, decision } = answer;
        const told = approvalId === undefined ? undefined : this.#decided.get(approvalId);
        if (told !== undefined && told !== decision.approved)
          faults.push(`run ${runId} went on by another decision on ${approvalId} than was told`);
      }
    }
    return faults;
  }
}
