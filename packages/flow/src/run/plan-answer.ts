/**
 * What answers one interrupt, worked out before anything is spent: read by its schema, bounded, and sealed as it will be
 * kept (FLOW-22, FLOW-61). The code gets what was read here, at every re-run.
 */
import { isSealError } from "@holdpoint/seal";

import { formParts } from "../checkpoint/seal.ts";
import { keptText } from "../checkpoint/form.ts";
import { FlowError, isFlowError } from "../errors.ts";
import { issuesText, pathsOf } from "../graph/state.ts";
import type { InterruptFacts } from "../graph/interrupt.ts";
import type { MatchedAnswer } from "./answers.ts";
import type { InterruptAnswered } from "./event.ts";
import { graphAround } from "./follows.ts";
import { boundedText } from "./interrupting.ts";
import type { LiveRun } from "./live.ts";
import { pendingId } from "./wait.ts";

/** @throws FlowError `answer-invalid` */
export async function planAnswer(
  live: LiveRun,
  matched: MatchedAnswer,
): Promise<InterruptAnswered> {
  const { path: visit, wait, answer } = matched;
  const { name } = wait.id;
  const facts = graphAround(live, visit).interrupts.get(name);
  if (facts === undefined) throw refused(matched, `the flow has no interrupt '${name}'`);
  const value = await read(facts, matched);
  const parts = formParts(live.graph, live.parts);
  try {
    const named = { what: `the answer of '${name}'`, visit, schema: facts.answer };
    const payload = keptText({ form: "value", value }, parts, named);
    const over = boundedText(payload.text, facts);
    if (over !== undefined) throw refused(matched, over);
    const given = digestOf(answer.payload, live);
    const { callId } = wait;
    return { kind: "interrupt", visit, callId, payload, ...given, by: answer.by };
  } catch (error) {
    if (!isFlowError(error, "state-not-sealable")) throw error;
    throw refused(matched, error.message, {}, error);
  }
}

function digestOf(payload: unknown, { parts }: LiveRun): { readonly given?: string } {
  try {
    return { given: parts.sealer.digest(payload) };
  } catch (error) {
    if (isSealError(error)) return {};
    throw error;
  }
}

async function read({ name, answer: schema }: InterruptFacts, matched: MatchedAnswer) {
  let parsed;
  try {
    parsed = await schema.safeParseAsync(matched.answer.payload);
  } catch (cause) {
    throw refused(matched, `the answer schema of '${name}' threw`, {}, cause);
  }
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  throw refused(matched, issuesText(issues), { issues: pathsOf(issues) });
}

function refused(
  { path: node, wait }: MatchedAnswer,
  why: string,
  more: { readonly issues?: readonly string[] } = {},
  cause?: unknown,
): FlowError {
  const id = pendingId(wait);
  const message = `the answer to ${id} does not fit, and nothing is spent: ${why}`;
  return new FlowError("answer-invalid", message, { id, node, ...more }, cause);
}
