/**
 * `pnpm bench flow [--quick] [--report FILE]`: the workloads in memory, ours beside the floor and the peers, rounds
 * interleaved, medians and the fastest of processor time. Read ratios, not milliseconds. Peers are installed on first use, into a folder of their own.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

import { floor, loggingFloor } from "./floor.ts";
import { holdpoint, holdpointWithRecords } from "./holdpoint.ts";
import { workloads, type Adapter } from "./workloads.ts";

const peersFolder = new URL("../../peers/", import.meta.url);
const quick = process.argv.includes("--quick");
const reportAt = process.argv.indexOf("--report");

/** Peers' own adapters are plain programs beside their packages. */
async function peers(): Promise<Adapter[]> {
  if (!existsSync(new URL("node_modules", peersFolder))) {
    console.error("installing the peers …");
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], {
      cwd: fileURLToPath(peersFolder),
      stdio: "ignore",
    });
  }
  const loaded: Adapter[] = [];
  for (const file of ["xstate.mjs", "langgraph.mjs", "mastra.mjs"]) {
    loaded.push((await import(new URL(file, peersFolder).href)) as Adapter);
  }
  return loaded;
}

interface Task {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

/** Processor time of this process, in microseconds: what else runs on the machine is not in it. */
function spentMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

interface Figure {
  readonly median: number;
  /** What else a machine does only ever adds. */
  readonly fastest: number;
}

/**
 * How long each task runs before it is measured, whosever it is: what is short to write is compiled after a quarter of a second,
 * a run with its seals, checks and promises is quicker with each round up to some 20,000.
 */
const warmMicros = quick ? 1_000_000 : 6_000_000;
const roundMicros = 20_000;

/** Microseconds. A round of each task in turn; a task repeats for some 20 ms, so that the clock tells. */
async function measured(tasks: readonly Task[], rounds: number): Promise<Map<string, Figure>> {
  const repeats = new Map<string, number>();
  for (const task of tasks) {
    // By processor time: on a busy machine a task would else be measured before it is compiled.
    const start = spentMicros();
    while (spentMicros() - start < warmMicros) await task.run();
    const warm = spentMicros();
    let count = 0;
    for (; spentMicros() - warm < roundMicros; count++) await task.run();
    repeats.set(task.name, Math.max(1, count));
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
  return new Map(
    [...times].map(([name, list]) => {
      list.sort((a, b) => a - b);
      return [name, { median: list[list.length >> 1]!, fastest: list[0]! }];
    }),
  );
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
  const { B1, B2 } = workloads;
  const small = async (others: readonly Adapter[], where: string): Promise<void> => {
    const linear = [floor, holdpoint, ...others].map((a) => ({
      name: a.name,
      run: a.linear(B1.nodes),
    }));
    table(
      `B1: ${B1.nodes} trivial nodes in memory, no pause, ${where}`,
      await measured(linear, rounds),
    );
    const approvals = [floor, holdpoint, holdpointWithRecords, ...others].map((a) => ({
      name: a.name,
      run: a.approval(B2),
    }));
    table(
      `B2: pause, dump, load, approve, resume, in memory, ${where}`,
      await measured(approvals, rounds),
    );
  };
  await small([], "alone in the process");

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
  for (const [title, all] of large) {
    const sizes: string[] = [];
    for (const { name, run } of all) sizes.push(`${name} ${String(await run())} characters`);
    table(`${title}, in memory`, await measured(all, Math.ceil(rounds / 3)));
    say(`\nWhat left the process: ${sizes.join(", ")}.`);
  }

  // Last: what they load and keep slows whatever else runs in the process.
  if (!quick) await small(await peers(), "beside the peers");

  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "?"}, Node ${process.version}`;
  const text = lines.join("\n");
  console.log(text);
  if (reportAt > 0) {
    const versions = JSON.parse(readFileSync(new URL("package.json", peersFolder), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const list = Object.entries(versions.dependencies).map(
      ([name, version]) => `${name} ${version}`,
    );
    const head = `# Flow benches, in memory\n\n${new Date().toISOString().slice(0, 10)} · ${machine} · ${rounds} interleaved rounds, medians and the fastest of processor time.\nPeers: ${list.join(", ")}. What a peer does not do is not in its number: none of them seals.\nCommand: \`pnpm bench flow --report docs/reports/flow-bench.md\`\n`;
    writeFileSync(process.argv[reportAt + 1]!, `${head}${text}\n`);
  }
}

await main();
