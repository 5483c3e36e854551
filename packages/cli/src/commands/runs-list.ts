/** Runs, and where each stands. Without a keyring: what the columns say, which nothing vouches for. */
import type { Row } from "@holdpoint/approvals";
import type { RunFilter, RunView } from "@holdpoint/workflows";

import type { Command, ExitCode } from "../command.ts";
import type { Desk } from "../desk.ts";
import type { Given } from "../given.ts";
import type { Output } from "../output.ts";
import { quoted } from "../shell.ts";
import { tableLines } from "../table.ts";
import { shownDistance, shownTime } from "../times.ts";

const statuses = ["pending", "running", "interrupted", "completed", "failed", "cancelled"] as const;
const orders = ["newest", "oldest", "latest", "stalest"] as const;
const pageMax = 500;

export const runsList: Command = {
  path: "runs list",
  summary: "runs, and where each stands",
  operands: [],
  options: {
    status: { value: "STATUS", summary: statuses.join(", ") },
    definition: { value: "NAME", summary: "of one workflow, all its versions" },
    session: { value: "NAME", summary: "of one session" },
    order: { value: "ORDER", summary: `${orders.join(", ")}; default: newest` },
    limit: { value: "N", summary: `1 to ${pageMax}; default: 50` },
    cursor: { value: "TEXT", summary: "the next page, from the end of this one" },
  },
  async run(desk, given, output) {
    const order = given.choice("order", orders) ?? "newest";
    const limit = given.count("limit", pageMax) ?? 50;
    const asked = { order, limit, filter: filterOf(given) };
    return desk.hasKeyring
      ? verified(desk, given, output, asked)
      : asTheColumnsSay(desk, output, asked);
  },
};

interface Asked {
  readonly order: (typeof orders)[number];
  readonly limit: number;
  readonly filter: RunFilter;
}

function filterOf(given: Given): RunFilter {
  const status = given.choice("status", statuses);
  const definition = given.text("definition");
  const session = given.text("session");
  return {
    ...(status && { status }),
    ...(definition && { definition }),
    ...(session && { session }),
  };
}

interface ListedRun {
  readonly runId: string;
  readonly definition: string;
  readonly version: string;
  readonly status: string;
  readonly session: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

async function verified(desk: Desk, given: Given, output: Output, asked: Asked): Promise<ExitCode> {
  const cursor = given.text("cursor");
  const { items, broken, cursor: next } = await (await desk.runs()).list({ ...asked, ...(cursor && { cursor }) }); // prettier-ignore
  const faults = broken.map(({ runId, error }) => ({
    runId,
    code: error.code,
    message: error.message,
  }));
  output.say({ verified: true, items, broken: faults, cursor: next }, () => [
    ...linesOf(items.map(listedOf), desk.clock.now()),
    ...faults.map(({ runId, message }) => `not to be trusted: ${runId}: ${message}`),
    ...(next === undefined ? [] : [`there are more: --cursor ${quoted(next)}`]),
  ]);
  return broken.length === 0 ? 0 : 3;
}

function listedOf({
  runId,
  definition,
  version,
  status,
  session,
  createdAt,
  updatedAt,
}: RunView): ListedRun {
  return { runId, definition, version, status, session, createdAt, updatedAt };
}

async function asTheColumnsSay(desk: Desk, output: Output, asked: Asked): Promise<ExitCode> {
  const { store } = await desk.place();
  const { order, limit, filter } = asked;
  const rows = await store.runs.list(desk.scope, filter, { order, limit });
  const items = rows.map(fromColumns);
  output.say({ verified: false, items, broken: [] }, () => [
    ...linesOf(items, desk.clock.now()),
    "nothing of this was verified: the config exports no keyring",
    ...(rows.length === limit ? [`there may be more: --limit, up to ${pageMax}`] : []),
  ]);
  return 0;
}

function fromColumns({ key, values }: Row): ListedRun {
  const { definition, version, status, session, createdAt, updatedAt } = values;
  return {
    runId: key,
    definition: String(definition),
    version: String(version),
    status: String(status),
    session: session === null ? undefined : String(session),
    createdAt: Number(createdAt),
    updatedAt: Number(updatedAt),
  };
}

function linesOf(runs: readonly ListedRun[], now: number): readonly string[] {
  if (runs.length === 0) return ["there are no such runs"];
  return tableLines(
    ["run", "workflow", "status", "session", "begun", "moved"],
    runs.map(({ runId, definition, version, status, session, createdAt, updatedAt }) => [
      runId,
      `${definition} ${version}`,
      status,
      session ?? "",
      shownTime(createdAt),
      shownDistance(updatedAt, now),
    ]),
  );
}
