/**
 * What does not go on by itself, why, and what to do: every run that has not ended, and those that failed.
 *
 * What waits for a person, sleeps, or is at work somewhere is as it should be; all else is told.
 */
import type { Explanation, RunStatus, Supervisor, Why } from "@holdpoint/workflows";

import type { Command } from "../command.ts";
import { plainText } from "../plain-text.ts";

const healthy: ReadonlySet<Why> = new Set([
  "executing",
  "waits-for-a-slot",
  "waits-for-people",
  "sleeps",
  "session-elsewhere",
]);
const looked: readonly RunStatus[] = ["pending", "running", "interrupted", "failed"];

interface Finding {
  readonly runId: string;
  readonly why: string;
  readonly because: string;
  readonly movedBy: readonly string[];
}

export const doctor: Command = {
  path: "doctor",
  summary: "what is blocked, why, and what to do",
  operands: [],
  options: {},
  async run(desk, _given, output) {
    void desk.definitions; // without them nothing could go on, by the look of it
    const supervisor = await desk.bystander();
    let looks = 0;
    const findings: Finding[] = [];
    for (const status of looked) {
      for await (const each of explained(supervisor, status)) {
        looks += 1;
        if (each !== undefined) findings.push(each);
      }
    }
    output.say({ looked: looks, findings }, () => [
      `looked at ${looks}; ${findings.length} of them do not go on by themselves`,
      ...findings.flatMap(({ runId, because, movedBy }) => [
        "",
        `${plainText(runId)}: ${plainText(because)}`,
        ...movedBy.map((each) => `  moved by ${plainText(each)}`),
      ]),
    ]);
    return findings.length === 0 ? 0 : 3;
  },
};

/** A run of that status each: `undefined` for one that is as it should be. */
async function* explained(
  supervisor: Supervisor,
  status: RunStatus,
): AsyncGenerator<Finding | undefined> {
  let cursor: string | undefined;
  do {
    const query = { filter: { status }, order: "oldest", limit: 500 } as const;
    const page = await supervisor.list({ ...query, ...(cursor && { cursor }) });
    for (const { runId, error } of page.broken) {
      const movedBy = ["somebody who finds out who changed it: it is never taken up"];
      yield { runId, why: error.code, because: error.message, movedBy };
    }
    for (const { runId } of page.items) yield findingOf(await supervisor.explain(runId));
    ({ cursor } = page);
  } while (cursor !== undefined);
}

function findingOf({ runId, why, because, movedBy, status }: Explanation): Finding | undefined {
  if (healthy.has(why)) return undefined;
  if (why === "ended" && status !== "failed") return undefined; // it ended while it was looked at
  return { runId, why, because, movedBy };
}
