/**
 * `pnpm bench durable [--quick] [--report FILE] [--postgres URL]`: the workloads on the stores, ours beside the floor on tables of its own in
 * the same kind of store with the same settings, in turns; then (not `--quick`) beside the peers on their own stores. Times are the clock's, since commits wait for the disk: read ratios. Where
 * something else keeps the machine or its disk busy, read those of this process's processor time, in which no waiting is.
 */
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";

import { peerVersions } from "../contenders/peers.ts";
import { besidePeers, besidePeersOnFiles } from "./beside-peers.ts";
import * as floor from "./floor.ts";
import * as holdpoint from "./holdpoint.ts";
import { warmUp } from "../spent.ts";
import { postgresBed, sqliteBed, type Bed } from "./stores.ts";

const quick = process.argv.includes("--quick");
const reportAt = process.argv.indexOf("--report");
/** Of an empty database; `pnpm bench` starts a server for it. Without one there are figures of SQLite alone. */
const postgresAt = process.argv.indexOf("--postgres");
const url = postgresAt > 0 ? process.argv[postgresAt + 1] : undefined;
/** Each with what is measured beside the peers on the same kind of store. */
const beds = [
  [() => sqliteBed(), besidePeersOnFiles],
  ...(url === undefined
    ? []
    : ([[() => postgresBed(url), () => besidePeers({ postgres: url })]] as const)),
] as const;

/** How long each side runs before it is measured, whosever it is. */
const warmMicros = quick ? 500_000 : 6_000_000;

interface Workload {
  readonly title: string;
  readonly make: (side: typeof floor | typeof holdpoint, bed: Bed) => () => Promise<unknown>;
  readonly rounds: number;
  /** Most times the floor's time. */
  readonly target: number;
}

const all: readonly Workload[] = [
  {
    title: "B1d: 20 trivial nodes, durable after each",
    make: (side, bed) => side.linear(bed),
    rounds: 60,
    target: 1.5,
  },
  {
    title: "B2: asked, answered, gone on from the log",
    make: (side, bed) => side.approval(bed),
    rounds: 100,
    target: 1.5,
  },
  {
    title: "B5: 200 results of 10 KB, then an approval",
    make: (side, bed) => side.results(bed),
    rounds: 6,
    target: 1.5,
  },
  {
    title: "B5g: 200 turns, each adding 10 KB to the state",
    make: (side, bed) => side.turns(bed),
    rounds: 3,
    target: 1.5,
  },
];

interface Taken {
  readonly run: () => Promise<unknown>;
  readonly ms: number[];
  readonly cpu: number[];
  bytes: number;
}

const median = (list: readonly number[]): number =>
  list.toSorted((a, b) => a - b)[list.length >> 1]!;

/** Both sides in turns, so that what else the machine does meets both. */
async function inTurns(bed: Bed, { make, rounds }: Workload): Promise<[Taken, Taken]> {
  const taken = (side: typeof floor | typeof holdpoint): Taken => ({
    run: make(side, bed),
    ms: [],
    cpu: [],
    bytes: 0,
  });
  const sides: [Taken, Taken] = [taken(floor), taken(holdpoint)];
  const times = quick ? Math.ceil(rounds / 10) : rounds;
  for (const { run } of sides) await warmUp(run, warmMicros);
  for (let at = 0; at < times; at++) {
    for (const side of sides) {
      const [before, started, spent] = [await bed.written(), performance.now(), process.cpuUsage()];
      await side.run();
      side.ms.push(performance.now() - started);
      const { user, system } = process.cpuUsage(spent);
      side.cpu.push((user + system) / 1_000);
      side.bytes += ((await bed.written()) - before) / times;
    }
  }
  return sides;
}

const lines: string[] = [];
const [load] = loadavg();
for (const [open, beside] of beds) {
  const bed = await open();
  try {
    lines.push(`\n## ${bed.name}\n`);
    lines.push(
      "| | floor, ms | holdpoint, ms | times, median | times, fastest | times, processor | target | KB written, floor | KB written, holdpoint |",
    );
    lines.push("|---|---|---|---|---|---|---|---|---|");
    for (const workload of all) {
      const [base, own] = await inTurns(bed, workload);
      const ratio = median(own.ms) / median(base.ms);
      const fastest = Math.min(...own.ms) / Math.min(...base.ms);
      const cpu = median(own.cpu) / median(base.cpu);
      const met = ratio <= workload.target ? "met" : "**not met**";
      const kb = ({ bytes }: Taken): string => (bytes / 1024).toFixed(0);
      lines.push(
        `| ${workload.title} | ${median(base.ms).toFixed(2)} | ${median(own.ms).toFixed(2)} | ${ratio.toFixed(2)} | ${fastest.toFixed(2)} | ${cpu.toFixed(2)} | ${workload.target}, ${met} | ${kb(base)} | ${kb(own)} |`,
      );
      console.error(lines.at(-1));
    }
  } finally {
    await bed.close();
  }
  if (!quick)
    lines.push("\nBeside the peers, each in a process of its own:\n", ...(await beside()));
}

const text = lines.join("\n");
console.log(text);
if (reportAt > 0) {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "?"}, Node ${process.version}, load ${load!.toFixed(0)} at its beginning`;
  const head = `# Flow benches, on the stores\n\n${new Date().toISOString().slice(0, 10)} · ${machine} · in turns, medians of the clock; beside them the processor time of this process.\nPeers: ${peerVersions()}. What a peer does not do is not in its number: none of them seals; Mastra sets \`synchronous\` of its SQLite file to NORMAL; xstate is kept by hand.\nCommand: \`pnpm bench durable --report docs/reports/durable-bench.md\`\n`;
  writeFileSync(process.argv[reportAt + 1]!, `${head}${text}\n`);
}
