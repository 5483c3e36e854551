/**
 * Questions that a node's code may ask, and that are no approvals (FLOW-22): by name, with the schemas of what is shown,
 * answered and remembered. They are part of the graph, so an answer is validated before anything is spent.
 */
import { z } from "zod";

import { FlowError } from "../errors.ts";
import { interruptBytesMax, namePattern } from "../limits.ts";
import { bareTransforms } from "./shape.ts";

/** Who may answer: `people` keeps agents' tools from answering by themselves. */
export type AnswerBy = "people" | "anyone";

/** A question, as `defineInterrupt` made it. `In` is what an answer is given as, `Answer` what the code gets. */
export interface Interrupt<
  Info = unknown,
  Answer = unknown,
  In = unknown,
  Cursor = unknown,
  Name extends string = string,
> {
  readonly name: Name;
  readonly answerBy: AnswerBy;
  /** Types only; never present. */
  readonly types?: {
    readonly info: Info;
    readonly answer: Answer;
    readonly in: In;
    readonly cursor: Cursor;
  };
}

type TypesOf<I> = I extends { readonly types?: infer T } ? NonNullable<T> : never;
type PartOf<I, K extends string> = TypesOf<I> extends { readonly [Part in K]: infer V } ? V : never;
/** What whoever answers is shown. */
export type InfoOf<I> = PartOf<I, "info">;
/** What the code gets. */
export type AnswerOf<I> = PartOf<I, "answer">;
/** What an answer is given as: what the schema reads. */
export type AnswerInputOf<I> = PartOf<I, "in">;
/** What the code finds again when it runs again. */
export type CursorOf<I> = PartOf<I, "cursor">;

/** What may be known of an interrupt, for forms, pages and models. */
export interface InterruptFacts {
  readonly name: string;
  readonly answerBy: AnswerBy;
  readonly answer: z.ZodType;
  readonly info: z.ZodType | undefined;
  readonly cursor: z.ZodType | undefined;
  /** What info, cursor and answer may take when sealed, each. */
  readonly bytesMax: number;
}

const inside = Symbol.for("@holdpoint/flow.interrupt");

class DefinedInterrupt<N extends string> implements Interrupt<never, never, never, never, N> {
  readonly name: N;
  readonly answerBy: AnswerBy;
  declare readonly types?: { info: never; answer: never; in: never; cursor: never };

  constructor(name: N, facts: InterruptFacts) {
    this.name = name;
    this.answerBy = facts.answerBy;
    Object.defineProperty(this, inside, { value: Object.freeze(facts) });
    Object.freeze(this);
  }
}

/**
 * Defines a question. `answer` reads what an answer brings; `info` is what whoever answers is shown, `cursor` what the code
 * keeps with the question and finds again: both are checked, and changed by nothing. `bytesMax` bounds each of the three as
 * sealed (default 1 MiB). Declare it on the nodes that may ask it: `asks: [Evidence]`.
 *
 * @throws FlowError `flow-invalid` for a name, a bound or a schema that can't be used
 */
export function defineInterrupt<
  const N extends string,
  A extends z.ZodType,
  I extends z.ZodType = z.ZodUndefined,
  C extends z.ZodType = z.ZodNever,
>(spec: {
  readonly name: N;
  readonly answer: A;
  readonly info?: I;
  readonly cursor?: C;
  readonly answerBy?: AnswerBy;
  readonly bytesMax?: number;
}): Interrupt<z.output<I>, z.output<A>, z.input<A>, z.output<C>, N> {
  const { name, answer, info, cursor, answerBy = "people", bytesMax = interruptBytesMax } = spec;
  if (typeof name !== "string" || !namePattern.test(name))
    throw unusable(name, "its name is not of A-Z a-z 0-9 _ - (64 at most)");
  if (answerBy !== "people" && answerBy !== "anyone")
    throw unusable(name, "answerBy is 'people' or 'anyone'");
  if (!Number.isSafeInteger(bytesMax) || bytesMax < 1)
    throw unusable(name, "bytesMax is no whole number of 1 or more");
  for (const [part, schema] of Object.entries({ answer, info, cursor })) {
    if (schema === undefined && part !== "answer") continue;
    if (!(schema instanceof z.ZodType)) throw unusable(name, `its ${part} is no zod schema`);
    if (part === "answer") continue;
    for (const path of bareTransforms(schema, part))
      throw unusable(name, `${path} ends in a bare transform, which can't be checked`);
  }
  return new DefinedInterrupt(name, { name, answerBy, answer, info, cursor, bytesMax });
}

/** The inside of an interrupt, of whichever copy of this package made it; `undefined` for anything else. */
export function factsOf(interrupt: unknown): InterruptFacts | undefined {
  if (typeof interrupt !== "object" || interrupt === null) return undefined;
  return (interrupt as { readonly [inside]?: InterruptFacts })[inside];
}

function unusable(name: unknown, why: string): FlowError {
  return new FlowError("flow-invalid", `the interrupt '${String(name)}' can't be used: ${why}`);
}
