/**
 * What answers an interrupt: branded values that print nothing of their payload, never told by their shape (FLOW-22).
 */
import { actorRef, assertActor, type Actor, type ActorRef } from "@holdpoint/approvals";

import { FlowError } from "../errors.ts";
import { factsOf, type AnswerInputOf, type Interrupt } from "../graph/interrupt.ts";

declare const brand: unique symbol;

/** An answer to an interrupt, as `answer` or `answerJson` made it. */
export interface Answer {
  readonly [brand]: "answer";
  readonly kind: "answer";
}

/** Who answers, where that is to be on record. */
export interface Answerer {
  readonly by: Actor;
}

/** What an answer says. */
export interface AnswerTerms {
  /** The interrupt that it was made for; absent where only its schema will tell. */
  readonly name: string | undefined;
  readonly payload: unknown;
  readonly by: ActorRef | undefined;
}

const inside = Symbol.for("@holdpoint/flow.answer");

/**
 * An answer to an interrupt, as its answer schema reads it; validated by that schema before anything is spent.
 * @throws FlowError `answer-invalid` for what is no interrupt; ApprovalError `actor-not-authentic`
 */
export function answer<I extends Interrupt>(
  what: I,
  payload: AnswerInputOf<I>,
  who?: Answerer,
): Answer {
  const facts = factsOf(what);
  if (facts === undefined)
    throw new FlowError("answer-invalid", "this answers something that defineInterrupt never made");
  return made(facts.name, payload, who);
}

/** An answer whose payload came from outside, as whatever waits will read it. @throws as `answer` */
export function answerJson(payload: unknown, who?: Answerer): Answer {
  return made(undefined, payload, who);
}

function made(name: string | undefined, payload: unknown, who: Answerer | undefined): Answer {
  if (who !== undefined) assertActor(who.by);
  const terms: AnswerTerms = { name, payload, by: who && actorRef(who.by) };
  const value = { kind: "answer" };
  Object.defineProperty(value, inside, { get: () => terms, enumerable: false });
  return Object.freeze(value) as Answer;
}

/** What an answer says; `undefined` for anything that was not made here. */
export function answerTerms(value: unknown): AnswerTerms | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, inside))
    return undefined;
  return (value as { readonly [inside]: AnswerTerms })[inside];
}
