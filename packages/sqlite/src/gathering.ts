/**
 * Commits that are asked for together share a transaction, and so a sync: many runs that go on at once would each wait for the disk
 * in turn.
 *
 * G1 What is gathered is what is ready anyway: a commit waits for the code that can run before it, never for a time.
 * G2 Each commit is judged and answered as if it had its transaction alone: by what those before it left, refused by itself.
 * G3 Where one of several can't be applied for another reason than a refusal, none is, and each is tried by itself: nobody's
 *    commit fails for its neighbour's.
 */

import type { CommitOutcome } from "@holdpoint/approvals";

import type { CheckedWrite } from "./checked-writes.ts";
import { limits } from "./limits.ts";

/** A list of writes under its attempt id. */
export interface Attempt {
  readonly attemptId: string;
  readonly writes: readonly CheckedWrite[];
}

/** Applies attempts in one transaction, an outcome each; `apart`: nothing was applied, and each is to be tried by itself. */
export type Apply = (attempts: readonly Attempt[]) => Promise<readonly CommitOutcome[] | "apart">;

interface Asked extends Attempt {
  readonly resolve: (outcome: CommitOutcome) => void;
  readonly reject: (error: unknown) => void;
}

export class Gathering {
  readonly #apply: Apply;
  #asked: Asked[] = [];

  constructor(apply: Apply) {
    this.#apply = apply;
  }

  /** Rejects with what `apply` rejects with. */
  add(attempt: Attempt): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      if (this.#asked.length === 0) queueMicrotask(() => this.#take()); // G1
      this.#asked.push({ ...attempt, resolve, reject });
    });
  }

  #take(): void {
    const asked = this.#asked;
    this.#asked = [];
    for (let at = 0; at < asked.length; at += limits.commitsTogetherMax) {
      void this.#settle(asked.slice(at, at + limits.commitsTogetherMax));
    }
  }

  async #settle(asked: readonly Asked[]): Promise<void> {
    try {
      const outcomes = await this.#apply(asked);
      if (outcomes === "apart") {
        for (const each of asked) await this.#settle([each]); // G3
        return;
      }
      for (const [at, { resolve }] of asked.entries()) resolve(outcomes[at]!);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
