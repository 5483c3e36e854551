import {
  approve,
  deny,
  editedArguments,
  identityPort,
  isApprovalError,
  type Actor,
  type ApprovalError,
  type ApprovalView,
  type Ask,
  type Decision,
  type DecideResult,
  type SealedRecords,
} from "@holdpoint/approvals";

import type { TestClock } from "./test-clock.ts";

/** One line of a script: who says what, to which request, when (TEST-02). */
export interface Line {
  readonly who: string;
  readonly roles?: readonly string[];
  readonly says: "approve" | "deny";
  /** The request it is about; members that are absent don't restrict. Of several, the oldest. */
  readonly to?: { readonly id?: string; readonly tool?: string; readonly runId?: string };
  /** Moves the clock on before it is said. */
  readonly afterMs?: number;
  readonly note?: string;
  /** Arguments in place of those asked for, made for the tool of the request. */
  readonly edit?: unknown;
  /** Of a denial: for the rest of the run. */
  readonly forRun?: boolean;
}

/** What became of a line. `refused`: the records refused it, and why. */
export type Said =
  | { readonly line: Line; readonly id: string; readonly result: DecideResult }
  | { readonly line: Line; readonly id: string; readonly refused: ApprovalError };

export interface Stage {
  readonly records: SealedRecords;
  readonly scope: string;
  /** Needed by lines with `afterMs`. */
  readonly clock?: Pick<TestClock, "advance">;
}

export interface ScriptedPeople {
  /** Says the next line. Rejects where nothing that waits fits it, and where there is no line left. */
  next(): Promise<Said>;
  /** Says all lines that are left, one after the other. */
  all(): Promise<readonly Said[]>;
  /** Lines that are left. */
  readonly left: number;
}

const directory = identityPort((credential) => credential as Person);

interface Person {
  readonly id: string;
  readonly roles?: readonly string[];
}

/** A person whom an identity port vouched for. */
export function verified(id: string, ...roles: readonly string[]): Promise<Actor> {
  return directory.authenticate(roles.length === 0 ? { id } : { id, roles });
}

/** People who decide by a script, through the records, in the order of its lines. */
export function scriptedPeople(
  lines: readonly Line[],
  { records, scope, clock }: Stage,
): ScriptedPeople {
  const queue = [...lines];

  async function next(): Promise<Said> {
    const line = queue.shift();
    if (line === undefined) throw new Error("the script has no line left");
    if (line.afterMs !== undefined) {
      if (clock === undefined) throw new Error("a line with afterMs needs a clock");
      await clock.advance(line.afterMs);
    }
    const { id, tool } = await findFor(line, records, scope);
    const decision = await decisionOf(line, tool);
    try {
      return { line, id, result: await records.decide({ scope, id, decision }) };
    } catch (error) {
      if (isApprovalError(error)) return { line, id, refused: error };
      throw error;
    }
  }

  return {
    next,
    async all() {
      const said: Said[] = [];
      while (queue.length > 0) said.push(await next());
      return said;
    },
    get left() {
      return queue.length;
    },
  };
}

/** The same script as the function of an `askApproval` port: each question gets the next line that fits it. */
export function scriptedAnswers(lines: readonly Line[]): Ask {
  const queue = [...lines];
  return async (request) => {
    const at = queue.findIndex((line) => fits(line, request));
    const [line] = at === -1 ? [] : queue.splice(at, 1);
    return line === undefined ? undefined : decisionOf(line, request.tool);
  };
}

async function findFor(
  line: Line,
  records: SealedRecords,
  scope: string,
): Promise<Pick<ApprovalView, "id" | "tool">> {
  // By id, whatever its state: somebody may say something to what is decided already.
  const named = line.to?.id === undefined ? undefined : await records.show(scope, line.to.id);
  if (named !== undefined) return named;
  const pending = await records.list(scope, { filter: { state: "pending" }, limit: 500 });
  const found = pending.items.find((item) => fits(line, item));
  if (found !== undefined) return found;
  throw new Error(`nothing waits for ${line.who} to ${line.says}`);
}

function fits(
  { to = {} }: Line,
  request: { readonly id: string; readonly tool: string; readonly runId: string },
): boolean {
  if (to.id !== undefined && to.id !== request.id) return false;
  if (to.tool !== undefined && to.tool !== request.tool) return false;
  return to.runId === undefined || to.runId === request.runId;
}

async function decisionOf(line: Line, tool: string): Promise<Decision> {
  const by = await verified(line.who, ...(line.roles ?? []));
  const said = { by, ...(line.note === undefined ? {} : { note: line.note }) };
  if (line.says === "deny") return deny({ ...said, forRun: line.forRun === true });
  const edited = Object.hasOwn(line, "edit") ? { edited: editedArguments(tool, line.edit) } : {};
  return approve({ ...said, ...edited });
}
