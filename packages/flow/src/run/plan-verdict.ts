/**
 * What a person says of a call in doubt, worked out before anything is spent (FLOW-61, FLOW-76): a result is checked by the
 * output schema of the tool that it is of, and sealed as it will be kept.
 */
import { errorInfo, toolFacts, type AnyTool } from "@holdpoint/tools";
import { z } from "zod";

import { keptText } from "../checkpoint/form.ts";
import { formParts } from "../checkpoint/seal.ts";
import { FlowError, isFlowError } from "../errors.ts";
import { issuesText, outputOf } from "../graph/state.ts";
import type { MatchedVerdict } from "./answers.ts";
import type { DoubtAnswered, Verdict } from "./event.ts";
import type { Kept } from "./journal.ts";
import type { LiveRun } from "./live.ts";
import { conclude } from "./spend.ts";
import type { InDoubtWait } from "./wait.ts";

/** @throws FlowError `answer-invalid` */
export async function planVerdict(live: LiveRun, matched: MatchedVerdict): Promise<DoubtAnswered> {
  const { path: visit, wait, doubt } = matched;
  const { by } = doubt;
  const verdict = await verdictOf(live, matched);
  return { kind: "in-doubt", visit, callId: wait.callId, verdict, by };
}

async function verdictOf(live: LiveRun, matched: MatchedVerdict): Promise<Verdict> {
  const { doubt } = matched;
  switch (doubt.is) {
    case "ran":
      return { is: "ran", result: await resultOf(live, matched, doubt.tool, doubt.result) };
    case "did-not-run":
      return { is: "did-not-run" };
    case "failed":
      return { is: "failed", error: errorInfo(countsAsFailed(live, matched)) };
  }
}

/** A result as the code will get it. */
async function resultOf(
  live: LiveRun,
  matched: MatchedVerdict,
  tool: AnyTool,
  result: unknown,
): Promise<Kept> {
  const { output } = toolFacts(tool);
  const value = await read(output, matched, result);
  const named = {
    what: `the result of '${tool.name}'`,
    visit: matched.path,
    schema: output,
    call: tool.name,
  };
  try {
    return keptText({ form: "value", value }, formParts(live.graph, live.parts), named);
  } catch (error) {
    if (!isFlowError(error, "state-not-sealable")) throw error;
    throw refused(matched, error.message, error);
  }
}

async function read(schema: unknown, matched: MatchedVerdict, result: unknown): Promise<unknown> {
  if (schema === undefined) return result;
  // What the code gets is on the output side of the schema; one that is not zod's has but one side to ask.
  const reader = schema instanceof z.ZodType ? outputOf(schema) : (schema as z.ZodType);
  let parsed;
  try {
    parsed = await reader["~standard"].validate(result);
  } catch (cause) {
    throw refused(matched, "its output schema threw", cause);
  }
  if (parsed.issues === undefined) return parsed.value;
  const issues = parsed.issues.map(({ path = [], message }) => ({
    path: path.map((part) => (typeof part === "object" ? part.key : part)),
    message,
  }));
  throw refused(matched, issuesText(issues));
}

function refused({ path: node, wait }: MatchedVerdict, why: string, cause?: unknown): FlowError {
  const tool = wait.started.id.name;
  const message = `what '${tool}' is said to have given does not fit, and nothing is spent: ${why}`;
  return new FlowError("answer-invalid", message, { id: wait.callId, node, tool }, cause);
}

function countsAsFailed(live: LiveRun, { path: node, wait, doubt }: MatchedVerdict): FlowError {
  const tool = wait.started.id.name;
  return new FlowError(
    "in-doubt",
    `the call of '${tool}' in ${node} had begun, nobody knows whether it ran, and ${doubt.by.id} had it count as failed`,
    { runId: live.state.seed.runId, node, tool },
  );
}

/** What allowed a call in doubt ends as the person said; one that runs again ends with the run (APR-21). */
export async function concludeDoubt(
  live: LiveRun,
  { started }: InDoubtWait,
  { verdict }: DoubtAnswered,
): Promise<void> {
  const { approval } = started;
  if (approval === undefined || verdict.is === "did-not-run") return;
  const stands = await live.parts.approvals?.records?.read(live.state.seed.scope, approval.id);
  if (stands === undefined) return; // another port's
  await conclude(live, approval, verdict.is === "ran" ? "executed" : "failed");
}
