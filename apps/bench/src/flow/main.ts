/**
 * `pnpm bench flow [--quick] [--report FILE]`: the workloads in memory, ours beside the floor and the peers, rounds
 * interleaved, medians and the fastest of processor time. Read ratios, not milliseconds. Each has a process of its own; the peers are
 * installed on first use, into a folder of their own.
 */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";

import {
  contender,
  inTurns,
  type Contender,
  type Taken,
  type Where,
  type Workload,
} from "../contenders/in-turns.ts";
import { installPeers, peerModule, peerVersions } from "../contenders/peers.ts";
import { floor, loggingFloor } from "./floor.ts";
import { holdpoint } from "./holdpoint.ts";
import { workloads, type Adapter } from "./workloads.ts";

const quick = process.argv.includes("--quick");
const reportAt = process.argv.indexOf("--report");

function peers(): readonly Where[] {
  installPeers();
  const files = { xstate: "xstate.mjs", "LangGraph.js": "langgraph.mjs", Mastra: "mastra.mjs" };
  return Object.entries(files).map(([name, file]) => ({ name, module: peerModule(file) }));
}

interface Figure {
  readonly median: number;
  /** What else a machine does only ever adds. */
  readonly fastest: number;
}

/** How long each task runs before it is measured, whosever it is. */
const warmMicros = quick ? 1_000_000 : 6_000_000;
const roundMicros = 20_000;

function figures(times: ReadonlyMap<string, readonly number[]>): Map<string, Figure> {
  return new Map(
    [...times].map(([name, list]) => {
      const ordered = list.toSorted((a, b) => a - b);
      return [name, { median: ordered[ordered.length >> 1]!, fastest: ordered[0]! }];
    }),
  );
}

function micros(taken: ReadonlyMap<string, Taken>): Map<string, readonly number[]> {
  return new Map([...taken].map(([name, each]) => [name, each.micros]));
}

const lines: string[] = [];
const say = (line: string): void => void lines.push(line);

function table(title: string, result: Map<string, Figure>): void {
  const base = result.get("floor")!;
  const own = result.get("holdpoint")!;
  say(`\n**${title}**\n`);
  say("| | µs, median | × floor | ÷ holdpoint | µs, fastest | × floor | ÷ holdpoint |");
  say("|---|---|---|---|---|---|---|");
  for (const [name, spent] of result) {
    const cells = (["median", "fastest"] as const).flatMap((which) => [
      spent[which].toFixed(1),
      (spent[which] / base[which]).toFixed(1),
      (spent[which] / own[which]).toFixed(1),
    ]);
    say(`| ${[name, ...cells].join(" | ")} |`);
  }
}

const logging = "floor, an entry an event";
const records = "holdpoint, with records";

/** What left the process with the floors and ours. */
async function left(make: (adapter: Adapter) => (() => Promise<number>) | undefined) {
  const sizes: string[] = [];
  for (const adapter of [floor, loggingFloor, holdpoint]) {
    const size = await make(adapter)?.();
    if (size !== undefined) sizes.push(`${adapter.name} ${size} characters`);
  }
  return `\nWhat left the process: ${sizes.join(", ")}.`;
}

async function main(): Promise<void> {
  const rounds = quick ? 9 : 41;
  const { B1, B5, B6 } = workloads;
  const ours = new URL("holdpoint.ts", import.meta.url).href;
  const base = { name: "floor", module: new URL("floor.ts", import.meta.url).href };
  const all: readonly Where[] = [
    { ...base, member: "floor" },
    { ...base, name: logging, member: "loggingFloor" },
    { name: "holdpoint", module: ours, member: "holdpoint" },
    { name: records, module: ours, member: "holdpointWithRecords" },
    ...(quick ? [] : peers()),
  ];
  const contenders = await Promise.all(all.map(contender));
  const how = { rounds, warmMicros, roundMicros };
  const without = (...names: readonly string[]) =>
    contenders.filter(({ name }) => !names.includes(name));
  const turns = async (workload: Workload, of: readonly Contender[], times = rounds) =>
    figures(micros(await inTurns(of, { ...how, workload, rounds: times })));
  const each = "each in a process of its own";
  table(
    `B1: ${B1.nodes} trivial nodes in memory, no pause, ${each}`,
    await turns("linear", without(logging, records)),
  );
  table(
    `B2: pause, dump, load, approve, resume, in memory, ${each}`,
    await turns("approval", without(logging)),
  );
  const few = Math.ceil(rounds / 3);
  table(
    `B5: ${B5.results} results of 10 KB, then an approval, in memory, ${each}`,
    await turns("results", without(records), few),
  );
  say(
    "\nThe peers have all results from one piece of code; ours, and the second floor, keep each.",
  );
  say(await left((adapter) => adapter.results?.(B5)));
  table(
    `B6: a map of ${B6.items} calls, then an approval, in memory, ${each}`,
    await turns("map", without(records, "xstate"), few),
  );
  say(await left((adapter) => adapter.map?.(B6)));
  for (const one of contenders) one.end();

  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "?"}, Node ${process.version}`;
  const text = lines.join("\n");
  console.log(text);
  if (reportAt > 0) {
    const head = `# Flow benches, in memory\n\n${new Date().toISOString().slice(0, 10)} · ${machine} · ${rounds} interleaved rounds, medians and the fastest of processor time.\nPeers: ${peerVersions(["xstate", "@langchain/langgraph", "@mastra/core"])}. What a peer does not do is not in its number: none of them seals.\nCommand: \`pnpm bench flow --report docs/reports/flow-bench.md\`\n`;
    writeFileSync(process.argv[reportAt + 1]!, `${head}${text}\n`);
  }
}

await main();
