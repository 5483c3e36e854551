/**
 * Whether a payload is on record already: whoever lost the answer to a resume may ask again, and is told so (WF-22). Read from
 * the log, which holds a digest of each payload as it was given.
 */

import type { RunEvent } from "@holdpoint/flow";
import { isSealError, type Sealer } from "@holdpoint/seal";

import type { Workflow } from "../definition/define.ts";
import { workflowFacts } from "../definition/facts.ts";
import type { RunRecord } from "../registry/record.ts";
import type { Parts } from "./parts.ts";

/** What a payload answers, as a resume names it. */
export interface Naming {
  readonly interrupt?: string;
  readonly openTo?: "anyone";
}

/** Whether this very payload answered what it names; without a name: whether it was the last answer of all. */
export async function saidBefore(
  { log, runner, sealer }: Parts,
  definition: Workflow,
  { facts: { id: runId, scope } }: RunRecord,
  payload: unknown,
  { interrupt, openTo }: Naming,
): Promise<boolean> {
  if ((await log.head(scope, runId)) === 0) return false;
  const events = await runner({ log }).history(workflowFacts(definition).flow, runId);
  const answers = answersIn(events);
  const last = answers.at(-1);
  const meant =
    interrupt === undefined
      ? answers.filter(({ event }) => event === last?.event)
      : answers.filter(({ id, name }) => id === interrupt || name === interrupt).slice(-1);
  if (meant.length === 0) return false;
  if (openTo === "anyone" && meant.some(({ answerBy }) => answerBy !== "anyone")) return false; // WF-41
  const same = (one: Said, said: unknown): boolean => one.given === digestOf(sealer, said);
  if (interrupt !== undefined || meant.length === 1) return same(meant[0]!, payload);
  if (typeof payload !== "object" || payload === null) return false;
  const said = Object.entries(payload);
  return (
    said.length === meant.length &&
    said.every(([name, own]) =>
      meant.some((one) => (one.name === name || one.id === name) && same(one, own)),
    )
  );
}

/** As the log has it of a payload; one without a canonical form was never given before. */
function digestOf(sealer: Sealer, payload: unknown): string {
  try {
    return sealer.digest(payload);
  } catch (error) {
    if (isSealError(error)) return "";
    throw error;
  }
}

/** One answer to a question, with what asked it. */
interface Said {
  readonly id: string;
  readonly name: string | undefined;
  readonly answerBy: string | undefined;
  readonly given: string | undefined;
  readonly event: RunEvent;
}

function answersIn(events: readonly RunEvent[]): readonly Said[] {
  const asked = new Map<string, { readonly name: string; readonly answerBy: string }>();
  return events.flatMap((event): readonly Said[] => {
    if (event.type === "interrupted") {
      const { callId, id, answerBy } = event.wait;
      asked.set(callId, { name: id.name, answerBy });
    }
    if (event.type !== "answered") return [];
    return event.answers.flatMap((answer) => {
      if (answer.kind !== "interrupt") return [];
      const { callId: id, given } = answer;
      const { name, answerBy } = asked.get(id) ?? {};
      return [{ id, name, answerBy, given, event }];
    });
  });
}
