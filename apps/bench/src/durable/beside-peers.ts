/**
 * The workloads on the stores beside the peers, each in a process of its own and in turns. By the clock, since commits wait for the disk,
 * and peers wait for timers and messages too.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  contender,
  inTurns,
  type Contender,
  type Place,
  type Taken,
  type Where,
  type Workload,
} from "../contenders/in-turns.ts";
import { installPeers, peerModule } from "../contenders/peers.ts";

const warmMicros = 6_000_000;

/** A run of some peers takes half a minute: what is that slow is told apart after two. */
const workloads: readonly {
  readonly workload: Workload;
  readonly title: string;
  readonly rounds: number;
}[] = [
  { workload: "linear", title: "B1d: 20 trivial nodes", rounds: 41 },
  { workload: "approval", title: "B2: asked, answered, gone on", rounds: 41 },
  { workload: "results", title: "B5: 200 results of 10 KB", rounds: 2 },
];

function all(place: Place): readonly Where[] {
  const module = new URL("contending.ts", import.meta.url).href;
  const files = { xstate: "xstate", "LangGraph.js": "langgraph", Mastra: "mastra", DBOS: "dbos" };
  const peers = Object.entries(files).filter(([name]) => name !== "DBOS" || "postgres" in place);
  return [
    { name: "floor", module, member: "floor", place },
    { name: "holdpoint", module, member: "holdpoint", place },
    ...peers.map(([name, file]) => ({ name, module: peerModule(`stores/${file}.mjs`), place })),
  ];
}

const median = (list: readonly number[]): number =>
  list.toSorted((a, b) => a - b)[list.length >> 1]!;

/** Lines of a table: a row a library, and for each workload its milliseconds, and how many times ours that is. */
export async function besidePeers(place: Place): Promise<readonly string[]> {
  installPeers();
  const contenders: Contender[] = [];
  const taken: ReadonlyMap<string, Taken>[] = [];
  try {
    for (const where of all(place)) contenders.push(await contender(where)); // one after another: tables are made
    for (const { workload, rounds } of workloads) {
      taken.push(await inTurns(contenders, { workload, rounds, warmMicros, roundMicros: 0 }));
    }
  } finally {
    for (const one of contenders) one.end();
  }
  const columns = workloads.flatMap(({ workload, title }) => [
    `${title}, ms`,
    "× holdpoint",
    ...(workload === "approval" ? ["decision → its call, ms"] : []),
  ]);
  return [
    `| | ${columns.join(" | ")} |`,
    `|${" --- |".repeat(1 + columns.length)}`,
    ...contenders.map(({ name }) => {
      const cells = workloads.flatMap(({ workload }, at) => cellsOf(workload, taken[at]!, name));
      return `| ${[name, ...cells].join(" | ")} |`;
    }),
  ];
}

function cellsOf(
  workload: Workload,
  taken: ReadonlyMap<string, Taken>,
  name: string,
): readonly string[] {
  const own = median(taken.get("holdpoint")!.wallMs);
  const { wallMs, firstMs } = taken.get(name) ?? {};
  const withFirst = workload === "approval";
  if (wallMs === undefined || firstMs === undefined)
    return Array<string>(withFirst ? 3 : 2).fill("–");
  const ms = median(wallMs);
  const first = withFirst ? [median(firstMs).toFixed(2)] : [];
  return [ms.toFixed(2), (ms / own).toFixed(1), ...first];
}

/** In a folder that is gone afterwards. */
export async function besidePeersOnFiles(): Promise<readonly string[]> {
  const sqlite = mkdtempSync(join(tmpdir(), "holdpoint-bench-peers-"));
  try {
    return await besidePeers({ sqlite });
  } finally {
    rmSync(sqlite, { recursive: true, force: true });
  }
}
