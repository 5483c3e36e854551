/**
 * What a person says of a call in doubt: branded values that print nothing of a result (FLOW-76).
 */
import { actorRef, assertActor, type ActorRef } from "@holdpoint/approvals";
import { toolFacts, type AnyTool, type ToolOutput } from "@holdpoint/tools";

import type { Answerer } from "./answer.ts";

declare const brand: unique symbol;

/** What became of a call in doubt, as `inDoubt.ran`, `inDoubt.didNotRun` or `inDoubt.failed` made it. */
export interface DoubtAnswer {
  readonly [brand]: "in-doubt";
  readonly kind: "in-doubt";
}

/** What such an answer says, and who says it. */
export type DoubtTerms = { readonly by: ActorRef } & (
  | { readonly is: "ran"; readonly tool: AnyTool; readonly result: unknown }
  | { readonly is: "did-not-run" }
  | { readonly is: "failed" }
);

const inside = Symbol.for("@holdpoint/flow.doubt-answer");

/** Answers to calls in doubt. Only a person can know: each names who says so. @throws ApprovalError `actor-not-authentic` */
export const inDoubt = Object.freeze({
  /** It ran, and gave this: the code gets the result, which the tool's output schema checks before anything is spent. */
  ran<T extends AnyTool>(tool: T, result: ToolOutput<T>, who: Answerer): DoubtAnswer {
    toolFacts(tool); // of no tool, nothing can be checked
    return made({ is: "ran", tool, result, by: personOf(who) });
  },
  /** It did not run: it runs now, with the arguments on record and under the same idempotency key. */
  didNotRun(who: Answerer): DoubtAnswer {
    return made({ is: "did-not-run", by: personOf(who) });
  },
  /** Whatever became of it, it counts as failed: the code gets an error of the code `in-doubt`, and nothing runs. */
  failed(who: Answerer): DoubtAnswer {
    return made({ is: "failed", by: personOf(who) });
  },
});

function personOf({ by }: Answerer): ActorRef {
  assertActor(by);
  return actorRef(by);
}

function made(terms: DoubtTerms): DoubtAnswer {
  const value = { kind: "in-doubt" };
  Object.defineProperty(value, inside, { get: () => terms, enumerable: false });
  return Object.freeze(value) as DoubtAnswer;
}

/** What such an answer says; `undefined` for anything that was not made here. */
export function doubtTerms(value: unknown): DoubtTerms | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, inside))
    return undefined;
  return (value as { readonly [inside]: DoubtTerms })[inside];
}
