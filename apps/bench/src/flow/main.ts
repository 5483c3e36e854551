/**
 * `pnpm bench flow [--quick] [--report FILE]`: the workloads in memory, ours beside the floor and the peers, rounds
 * interleaved, medians and the fastest of processor time. Read ratios, not milliseconds. Beside the peers each has a process of its own; they are
 * installed on first use, into a folder of their own.
 */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";

import { contender, inTurns, type Taken, type Where } from "../contenders/in-turns.ts";
import { installPeers, peerModule, peerVersions } from "../contenders/peers.ts";
import { floor, loggingFloor } from "./floor.ts";
import { holdpoint } from "./holdpoint.ts";
import { spentMicros, timesIn, warmUp } from "../spent.ts";
import { workloads, type Adapter } from "./workloads.ts";

const quick = process.argv.includes("--quick");
const reportAt = process.argv.indexOf("--report");

function peers(): readonly Where[] {
  installPeers();
  const files = { xstate: "xstate.mjs", "LangGraph.js": "langgraph.mjs", Mastra: "mastra.mjs" };
  return Object.entries(files).map(([name, file]) => ({ name, module: peerModule(file) }));
}

interface Task {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

interface Figure {
  readonly median: number;
  /** What else a machine does only ever adds. */
  readonly fastest: number;
}

/** How long each task runs before it is measured, whosever it is. */
const warmMicros = quick ? 1_000_000 : 6_000_000;
const roundMicros = 20_000;

/** Microseconds. A round of each task in turn; a task repeats for some 20 ms, so that the clock tells. */
async function measured(tasks: readonly Task[], rounds: number): Promise<Map<string, Figure>> {
  const repeats = new Map<string, number>();
  for (const { name, run } of tasks) {
    await warmUp(run, warmMicros);
    repeats.set(name, await timesIn(run, roundMicros));
  }
  const times = new Map(tasks.map((task) => [task.name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < tasks.length; turn++) {
      const task = tasks[(turn + round) % tasks.length]!;
      const count = repeats.get(task.name)!;
      const start = spentMicros();
      for (let index = 0; index < count; index++) await task.run();
      times.get(task.name)!.push((spentMicros() - start) / count);
    }
  }
  return figures(times);
}

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

async function main(): Promise<void> {
  const rounds = quick ? 9 : 41;
  const { B1 } = workloads;
  const ours = new URL("holdpoint.ts", import.meta.url).href;
  const base = { name: "floor", module: new URL("floor.ts", import.meta.url).href };
  const all: readonly Where[] = [
    { ...base, member: "floor" },
    { name: "holdpoint", module: ours, member: "holdpoint" },
    { name: "holdpoint, with records", module: ours, member: "holdpointWithRecords" },
    ...(quick ? [] : peers()),
  ];
  const contenders = await Promise.all(all.map(contender));
  const how = { rounds, warmMicros, roundMicros };
  const linear = contenders.filter(({ name }) => name !== "holdpoint, with records");
  table(
    `B1: ${B1.nodes} trivial nodes in memory, no pause, each in a process of its own`,
    figures(micros(await inTurns(linear, { ...how, workload: "linear" }))),
  );
  table(
    "B2: pause, dump, load, approve, resume, in memory, each in a process of its own",
    figures(micros(await inTurns(contenders, { ...how, workload: "approval" }))),
  );
  for (const one of contenders) one.end();

  const both = (make: (adapter: Adapter) => Task["run"] | undefined): Task[] =>
    [floor, loggingFloor, holdpoint].flatMap((adapter) => {
      const run = make(adapter);
      return run === undefined ? [] : [{ name: adapter.name, run }];
    });
  const { B5, B6 } = workloads;
  const large: [string, Task[]][] = [
    [`B5: ${B5.results} results of 10 KB, then an approval`, both((a) => a.results?.(B5))],
    [`B6: a map of ${B6.items} calls, then an approval`, both((a) => a.map?.(B6))],
  ];
  for (const [title, tasks] of large) {
    const sizes: string[] = [];
    for (const { name, run } of tasks) sizes.push(`${name} ${String(await run())} characters`);
    table(`${title}, in memory`, await measured(tasks, Math.ceil(rounds / 3)));
    say(`\nWhat left the process: ${sizes.join(", ")}.`);
  }

  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "?"}, Node ${process.version}`;
  const text = lines.join("\n");
  console.log(text);
  if (reportAt > 0) {
    const head = `# Flow benches, in memory\n\n${new Date().toISOString().slice(0, 10)} · ${machine} · ${rounds} interleaved rounds, medians and the fastest of processor time.\nPeers: ${peerVersions()}. What a peer does not do is not in its number: none of them seals.\nCommand: \`pnpm bench flow --report docs/reports/flow-bench.md\`\n`;
    writeFileSync(process.argv[reportAt + 1]!, `${head}${text}\n`);
  }
}

await main();
