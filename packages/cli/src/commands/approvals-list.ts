/** What waits, or did. Without a keyring: what the columns say, which nothing vouches for. */
import type { ApprovalFilter, ApprovalView, Row } from "@holdpoint/approvals";

import type { Command, ExitCode } from "../command.ts";
import type { Desk } from "../desk.ts";
import type { Given } from "../given.ts";
import type { Output } from "../output.ts";
import { quoted } from "../shell.ts";
import { tableLines } from "../table.ts";
import { shownDistance, shownTime } from "../times.ts";

const states = ["pending", "decided", "consumed"] as const;
const orders = ["oldest", "newest", "expiring"] as const;
const pageMax = 500;

export const approvalsList: Command = {
  path: "approvals list",
  summary: "what waits for a person, or did",
  operands: [],
  options: {
    state: { value: "STATE", summary: `${states.join(", ")}; default: pending` },
    all: { summary: "of every state" },
    run: { value: "ID", summary: "of one run" },
    tool: { value: "NAME", summary: "of one tool" },
    order: { value: "ORDER", summary: `${orders.join(", ")}; default: oldest` },
    limit: { value: "N", summary: `1 to ${pageMax}; default: 50` },
    cursor: { value: "TEXT", summary: "the next page, from the end of this one" },
  },
  async run(desk, given, output) {
    const order = given.choice("order", orders) ?? "oldest";
    const limit = given.count("limit", pageMax) ?? 50;
    const filter = filterOf(given);
    return desk.hasKeyring
      ? verified(desk, given, output, { order, limit, filter })
      : asTheColumnsSay(desk, output, { order, limit, filter });
  },
};

interface Asked {
  readonly order: (typeof orders)[number];
  readonly limit: number;
  readonly filter: ApprovalFilter;
}

function filterOf(given: Given): ApprovalFilter {
  const state = given.choice("state", states) ?? (given.flag("all") ? undefined : "pending");
  const runId = given.text("run");
  const tool = given.text("tool");
  return { ...(state && { state }), ...(runId && { runId }), ...(tool && { tool }) };
}

/** A line of the list, however it was read. */
export interface ListedApproval {
  readonly id: string;
  readonly tool: string;
  readonly runId: string;
  readonly state: string;
  readonly requestedAt: number;
  readonly expiresAt: number | undefined;
  readonly missing?: number;
}

async function verified(desk: Desk, given: Given, output: Output, asked: Asked): Promise<ExitCode> {
  const records = await desk.records();
  const cursor = given.text("cursor");
  const { items, broken, cursor: next } = await records.list(desk.scope, { ...asked, ...(cursor && { cursor }) }); // prettier-ignore
  const listed = items.map(listedOf);
  const faults = broken.map(({ id, error }) => ({ id, code: error.code, message: error.message }));
  output.say({ verified: true, items: listed, broken: faults, cursor: next }, () => [
    ...linesOf(listed, desk.clock.now()),
    ...faults.map(({ id, message }) => `not to be trusted: ${id}: ${message}`),
    ...(next === undefined ? [] : [`there are more: --cursor ${quoted(next)}`]),
  ]);
  return broken.length === 0 ? 0 : 3;
}

function listedOf(view: ApprovalView): ListedApproval {
  const { id, tool, runId, requestedAt, expiresAt, missing } = view;
  return { id, tool, runId, state: view.expired ? "expired" : view.state, requestedAt, expiresAt, missing }; // prettier-ignore
}

async function asTheColumnsSay(desk: Desk, output: Output, asked: Asked): Promise<ExitCode> {
  const { store } = await desk.place();
  const { order, limit, filter } = asked;
  const rows = await store.approvals.list(desk.scope, filter, { order, limit });
  const listed = rows.map(fromColumns);
  output.say({ verified: false, items: listed, broken: [] }, () => [
    ...linesOf(listed, desk.clock.now()),
    "nothing of this was verified: the config exports no keyring",
    ...(rows.length === limit ? [`there may be more: --limit, up to ${pageMax}`] : []),
  ]);
  return 0;
}

function fromColumns({ key, values }: Row): ListedApproval {
  const { tool, runId, state, requestedAt, expiresAt } = values;
  return {
    id: key,
    tool: String(tool),
    runId: String(runId),
    state: String(state),
    requestedAt: Number(requestedAt),
    expiresAt: expiresAt === null ? undefined : Number(expiresAt),
  };
}

function linesOf(listed: readonly ListedApproval[], now: number): readonly string[] {
  if (listed.length === 0) return ["nothing waits here"];
  return tableLines(
    ["id", "tool", "run", "state", "asked", "expires"],
    listed.map(({ id, tool, runId, state, requestedAt, expiresAt }) => [
      id,
      tool,
      runId,
      state,
      `${shownTime(requestedAt)} (${shownDistance(requestedAt, now)})`,
      shownDistance(expiresAt, now),
    ]),
  );
}
