/**
 * A question that a node's code asks (FLOW-22).
 *
 * Q1 Info and cursor are taken when the question is asked, synchronously: what the code does to them later changes nothing.
 * Q2 What is wrong about a question reaches the code as an error, in journal order like any outcome; nobody is asked.
 * Q3 State, info and cursor are sealed before the run says that it waits (FLOW-26).
 * Q4 Until when it may be answered is worked out once, and on record: a re-run keeps that very moment (WF-28).
 */
import { digestText } from "@holdpoint/seal";
import { errorInfo } from "@holdpoint/tools";

import { keptText } from "../checkpoint/form.ts";
import { formParts } from "../checkpoint/seal.ts";
import { FlowError } from "../errors.ts";
import { factsOf, type Interrupt, type InterruptFacts } from "../graph/interrupt.ts";
import { issuesText, outputOf } from "../graph/state.ts";
import { copyOf } from "./copy.ts";
import type { Made } from "./identity.ts";
import type { Kept, Settled } from "./journal.ts";
import type { LiveRun } from "./live.ts";
import type { Begin } from "./scope.ts";
import { timeOf } from "./sleeping.ts";
import type { InterruptWait } from "./wait.ts";

/** As an approval may take to be decided: about 285 years. */
const expiresInMsMax = 9_000_000_000_000;

/** A question on its way: what it shows and keeps, or what is wrong with it. */
export interface Question {
  readonly name: string;
  readonly facts: InterruptFacts | undefined;
  readonly info: unknown;
  readonly cursor: unknown;
  readonly expiresInMs: number | undefined;
  readonly wrong: FlowError | undefined;
}

/** Where a question is asked. */
export interface AskSite {
  readonly live: LiveRun;
  readonly visit: string;
  /** Whether the execution is over, or cut off. */
  readonly over: boolean;
  prepare(): void;
}

/** Q1. `declared`: what the node may ask. */
export function questionOf(
  what: Interrupt,
  how: { readonly info: unknown; readonly cursor?: unknown; readonly expiresInMs?: number },
  declared: readonly Interrupt[],
  visit: string,
): Question {
  const found = declaredIn(what, declared, visit);
  if (found instanceof FlowError) {
    const { name } = what;
    const nothing = {
      facts: undefined,
      info: undefined,
      cursor: undefined,
      expiresInMs: undefined,
    };
    return { name, ...nothing, wrong: found };
  }
  const facts = found;
  const info = taken(facts, "info", how.info, visit);
  const cursor = taken(facts, "cursor", how.cursor, visit);
  const { name } = facts;
  const { expiresInMs } = how;
  const wrong = info.wrong ?? cursor.wrong ?? unfitTime(name, expiresInMs, visit);
  return { name, facts, info: info.value, cursor: cursor.value, expiresInMs, wrong };
}

function unfitTime(name: string, ms: number | undefined, node: string): FlowError | undefined {
  if (ms === undefined || (Number.isSafeInteger(ms) && ms > 0 && ms <= expiresInMsMax))
    return undefined;
  const message = `${node} asks '${name}' for a time that is no whole number of milliseconds from 1 to ${expiresInMsMax}`;
  return new FlowError("interrupt-invalid", message, { node, interrupt: name });
}

/** What an interrupt is made of, where its node declares it. @throws FlowError `interrupt-invalid` */
export function declaredFacts(
  what: Interrupt,
  declared: readonly Interrupt[],
  visit: string,
): InterruptFacts {
  const found = declaredIn(what, declared, visit);
  if (found instanceof FlowError) throw found;
  return found;
}

function declaredIn(
  what: Interrupt,
  declared: readonly Interrupt[],
  node: string,
): InterruptFacts | FlowError {
  const facts = factsOf(what);
  if (facts !== undefined && declared.some((one) => factsOf(one) === facts)) return facts;
  const name = facts?.name ?? "what no defineInterrupt made";
  const message = `${node} asks '${name}', which its node does not declare in 'asks'`;
  return new FlowError("interrupt-invalid", message, { node, interrupt: name });
}

type Taken = { readonly value: unknown; readonly wrong?: FlowError };

/** A part of a question: of the schema's own making, checked and copied. Without a schema there is none. */
function taken(
  facts: InterruptFacts,
  part: "info" | "cursor",
  value: unknown,
  visit: string,
): Taken {
  const schema = facts[part];
  if (schema === undefined && value === undefined) return { value };
  if (part === "cursor" && value === undefined) return { value }; // a question may do without
  const wrong = (why: string, cause?: unknown): Taken => ({
    value: undefined,
    wrong: unfit(facts, part, why, visit, cause),
  });
  if (schema === undefined) return wrong("none is defined");
  try {
    const read = outputOf(schema).safeParse(value);
    return read.success ? { value: copyOf(read.data) } : wrong(issuesText(read.error.issues));
  } catch (cause) {
    return wrong("its schema threw", cause);
  }
}

/** Asks, unless the question stands on record. `undefined`: it waits. */
export function beginAsking(site: AskSite, question: Question): Begin {
  return async (made, { wait }) => {
    if (question.wrong !== undefined) return failure(question.wrong); // Q2
    if (wait !== undefined) return undefined; // FLOW-30: its question stays as it is
    site.prepare(); // Q3
    const asked = waitOf(site, question, made);
    if (asked instanceof FlowError) return failure(asked);
    const { expiresInMs } = question;
    if (expiresInMs === undefined) return waits(site, asked);
    const until = (await timeOf(site.live)) + expiresInMs; // Q4
    return site.over ? undefined : waits(site, { ...asked, until });
  };
}

function waits({ live, visit }: AskSite, wait: InterruptWait): undefined {
  live.emit({ type: "interrupted", visit, wait });
}

/** What waits, or what is too large about it. @throws FlowError `state-not-sealable` */
function waitOf(site: AskSite, question: Question, made: Made): InterruptWait | FlowError {
  const { live, visit } = site;
  const { name, cursor } = question;
  const facts = question.facts!;
  const parts = formParts(live.graph, live.parts);
  const texts: { info?: Kept; cursor?: Kept } = {};
  for (const part of ["info", "cursor"] as const) {
    if (part === "cursor" && cursor === undefined) continue;
    const named = { what: `the ${part} of '${name}'`, visit, schema: facts[part], call: name };
    const text = keptText({ form: "value", value: question[part] }, parts, named);
    const over = boundedText(text.text, facts);
    if (over !== undefined) return unfit(facts, part, over, visit);
    texts[part] = text;
  }
  return {
    kind: "interrupt",
    id: made,
    callId: questionIdOf(live.state.seed.runId, visit, made),
    answerBy: facts.answerBy,
    info: texts.info!,
    ...(texts.cursor && { cursor: texts.cursor }),
    requestedAt: live.parts.clock.now(),
    order: made.order,
  };
}

/** The id of a question in one visit: the same at every re-run (FLOW-38). */
function questionIdOf(runId: string, visit: string, { name, number }: Made): string {
  return digestText(`ask\0${runId}\0${visit}\0${name}\0${number}`);
}

/** What is wrong with the length of a part as it is sealed; `undefined`: nothing. */
export function boundedText(text: string, { bytesMax }: InterruptFacts): string | undefined {
  // A character takes 3 bytes of UTF-8 at most: most texts need not be counted.
  if (text.length * 3 <= bytesMax || utf8.encode(text).length <= bytesMax) return undefined;
  return `it takes more than ${bytesMax} bytes`;
}

const utf8 = new TextEncoder();

function unfit(
  { name }: InterruptFacts,
  part: string,
  why: string,
  node: string,
  cause?: unknown,
): FlowError {
  const message = `the ${part} that ${node} gives '${name}' does not fit: ${why}`;
  return new FlowError("interrupt-invalid", message, { node, interrupt: name, part }, cause);
}

function failure(error: FlowError): Settled {
  return { ok: false, error: errorInfo(error) };
}
