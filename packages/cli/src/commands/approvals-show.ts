import { diffArguments, type ApprovalView } from "@holdpoint/approvals";
import { encode } from "@holdpoint/seal";

import type { Command } from "../command.ts";
import { CliError } from "../errors.ts";
import { plainLines, plainText } from "../plain-text.ts";
import { tableLines } from "../table.ts";
import { shownTime } from "../times.ts";

export const approvalsShow: Command = {
  path: "approvals show",
  summary: "one approval: what it asks, who said what, what became of it",
  operands: ["ID"],
  options: { arguments: { summary: "show what the call would be made with" } },
  async run(desk, given, output) {
    const id = given.operand(0);
    const view = await (await desk.records()).show(desk.scope, id);
    if (view === undefined) throw notFound(id);
    const facts = factsOf(view);
    const sets = given.flag("arguments") ? argumentsOf(view) : undefined;
    output.say({ ...facts, ...(sets && { arguments: sets }) }, () => [
      ...tableLines(["", ""], Object.entries(facts).flatMap(rowOf)).slice(1),
      ...(sets === undefined
        ? ["its arguments are hidden: --arguments shows them"]
        : argumentLines(view, sets)),
    ]);
    return 0;
  },
};

export function notFound(id: string): CliError {
  return new CliError("not-found", `there is no approval ${id}`, { id });
}

function factsOf(view: ApprovalView) {
  const { id, tool, kind, runId, node, callId, requestedBy, rule, votes, lateVotes } = view;
  const { requestedAt, expiresAt, missing, decision, outcome, endNote, replaces, replacedBy } =
    view;
  return {
    id,
    state: view.expired ? "expired" : view.state,
    kind,
    tool,
    runId,
    node,
    callId,
    title: rule.title,
    reason: rule.reason,
    requestedBy,
    requestedAt,
    expiresAt,
    missing: view.state === "pending" ? missing : undefined,
    argumentsDigest: view.argumentsDigest,
    votes,
    lateVotes,
    decision,
    outcome,
    endNote,
    replaces,
    replacedBy,
  };
}

/** Sealed texts: types that JSON has not keep their tags. */
function argumentsOf(view: ApprovalView) {
  const { proposed, decided, effective } = view.arguments();
  return {
    proposed: encode(proposed),
    ...(decided !== undefined && { decided: encode(decided) }),
    effective: encode(effective),
  };
}

function argumentLines(
  view: ApprovalView,
  sets: ReturnType<typeof argumentsOf>,
): readonly string[] {
  const lines = ["asked for with:", ...plainLines(sets.proposed).map((line) => `  ${line}`)];
  const { proposed, decided } = view.arguments();
  if (decided === undefined) return lines;
  const changes = diffArguments(proposed, decided);
  return [
    ...lines,
    "changed by who decided:",
    ...changes.map((change) => `  ${plainText(JSON.stringify(change))}`),
    "runs with:",
    ...plainLines(sets.effective).map((line) => `  ${line}`),
  ];
}

function rowOf([name, value]: [string, unknown]): (readonly string[])[] {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return [];
  if (name.endsWith("At")) return [[name, shownTime(Number(value))]];
  if (Array.isArray(value)) return value.map((each) => [name, shown(each)]);
  return [[name, shown(value)]];
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
