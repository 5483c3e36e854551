/**
 * The bench of `@holdpoint/seal`: `pnpm --filter bench bench:seal [other node]`, after a build. All figures of
 * one table come from one run; the limits are ratios within it. Writes `docs/reports/seal-bench.md`, with the limits
 * on another Node's executable if one is given; `limits` prints those of this one alone.
 */
import { execFileSync } from "node:child_process";
import { createHmac, createSecretKey } from "node:crypto";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";

import { createKeyring, decode, encode, open, seal } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";

import { bundleBytes, importMs, peakOverText } from "./footprint.ts";
import { medians, type Task } from "./measure.ts";
import { CODECS, HARD } from "./peers.ts";
import { verdict } from "./verdict.ts";
import { nested, numbers, WORKLOADS } from "./workloads.ts";

const REPORT = new URL("../../../../docs/reports/seal-bench.md", import.meta.url);
const SEAL_LIMIT = { nested: 2, strings: 1.3 };
const OPEN_LIMIT = 2.5;
const key = new Uint8Array(32).fill(1);
const held = createSecretKey(key);
const options = {
  keyring: createKeyring({ current: { id: "k", key }, mac: nodeMac }),
  purpose: "checkpoint",
};

const ROUNDS = 15;

function micros(ms: number): string {
  return ms < 1 ? `${(ms * 1000).toFixed(1)} µs` : `${ms.toFixed(2)} ms`;
}

const lines: string[] = [];
let met = true;

function limit(title: string, value: number, most: number, unit = ""): void {
  if (value > most) met = false;
  lines.push(
    `| ${title} | ${value.toFixed(2)}${unit} | ${most}${unit} | ${value <= most ? "met" : "**not met**"} |`,
  );
}

function sealing(): void {
  lines.push(
    "## Against the yardstick",
    "",
    "Sealing against `JSON.stringify` and the same HMAC, opening against the HMAC and `JSON.parse`.",
    "",
  );
  lines.push(
    "| workload | stringify + HMAC | seal | HMAC + parse | open |",
    "| --- | --- | --- | --- | --- |",
  );
  const verdicts: (() => void)[] = [];
  for (const { name, value } of [
    ...WORKLOADS,
    { name: "small members 700 KB", value: numbers(700_000) },
  ]) {
    const text = JSON.stringify(value);
    const sealed = seal(value, options);
    const tasks: Task[] = [
      {
        name: "stringify + hmac",
        run: () => createHmac("sha256", held).update(JSON.stringify(value)).digest(),
      },
      { name: "seal", run: () => seal(value, options) },
      {
        name: "hmac + parse",
        run: () => [createHmac("sha256", held).update(text).digest(), JSON.parse(text)],
      },
      { name: "open", run: () => open(sealed, options) },
    ];
    const took = medians(tasks, ROUNDS);
    const [floor, own, floorBack, back] = tasks.map((task) => took.get(task.name)!) as [
      number,
      number,
      number,
      number,
    ];
    lines.push(
      `| ${name} (${text.length} B) | ${micros(floor)} | ${micros(own)}, ${(own / floor).toFixed(2)}× | ${micros(floorBack)} | ${micros(back)}, ${(back / floorBack).toFixed(2)}× |`,
    );
    if (name.startsWith("small members")) continue;
    const most = name.startsWith("strings") ? SEAL_LIMIT.strings : SEAL_LIMIT.nested;
    verdicts.push(
      () => limit(`seal, ${name}`, own / floor, most, "×"),
      () => limit(`open, ${name}`, back / floorBack, OPEN_LIMIT, "×"),
    );
  }
  lines.push("", "## Limits", "", "| what | measured | limit | |", "| --- | --- | --- | --- |");
  for (const say of verdicts) say();
}

function linear(): void {
  const sizes = [10_000, 100_000, 1_000_000, 8_000_000];
  const perMegabyte = { seal: [] as number[], open: [] as number[] };
  for (const size of sizes) {
    const value = nested(size);
    const sealed = seal(value, options);
    const bytes = encode(value).length;
    const tasks: Task[] = [
      { name: "seal", run: () => seal(value, options) },
      { name: "open", run: () => open(sealed, options) },
    ];
    const took = medians(tasks, ROUNDS);
    perMegabyte.seal.push((took.get("seal")! / bytes) * 1e6);
    perMegabyte.open.push((took.get("open")! / bytes) * 1e6);
  }
  for (const [what, figures] of Object.entries(perMegabyte)) {
    limit(
      `${what}, ms per MB from 10 KB to 8 MB, largest over smallest`,
      Math.max(...figures) / Math.min(...figures),
      1.5,
      "×",
    );
  }
}

async function footprint(): Promise<void> {
  limit(
    "peak memory of sealing 2 MB of strings, over the text",
    peakOverText("seal", "strings", 2_000_000),
    6,
    "×",
  );
  limit(
    "peak memory of sealing 8 MB nested, over the text",
    peakOverText("seal", "nested", 8_000_000),
    6,
    "×",
  );
  limit(
    "peak memory of opening 2 MB of strings, over the text",
    peakOverText("open", "strings", 2_000_000),
    6,
    "×",
  );
  limit("import", importMs("@holdpoint/seal"), 15, " ms");
  limit("minimal seal and open, minified and gzipped", (await bundleBytes()) / 1000, 12, " kB");
}

function peers(): void {
  const value = nested(100_000);
  const rows = CODECS.map((codec) => ({ codec, written: codec.write(value) }));
  const took = medians(
    rows.flatMap(({ codec, written }) => [
      { name: `${codec.name} write`, run: () => codec.write(value) },
      { name: `${codec.name} read`, run: () => codec.read(written as never) },
    ]),
    ROUNDS,
  );
  const base = { write: took.get("JSON write")!, read: took.get("JSON read")! };
  lines.push(
    "",
    "## Beside other codecs",
    "",
    "Codec alone, 100 KB of nested objects, as a multiple of JSON's time and size. None of the others seals.",
    "",
  );
  lines.push("| | write | read | size |", "| --- | --- | --- | --- |");
  const plain = rows[0]!.written.length;
  for (const { codec, written } of rows) {
    const write = took.get(`${codec.name} write`)! / base.write;
    const read = took.get(`${codec.name} read`)! / base.read;
    lines.push(
      `| ${codec.name} | ${write.toFixed(2)}× | ${read.toFixed(2)}× | ${(written.length / plain).toFixed(2)}× |`,
    );
  }
  lines.push("", "What each does with a hard value: kept, refused, or changed without a word.", "");
  lines.push(
    `| | ${CODECS.map((codec) => codec.name).join(" | ")} |`,
    `| --- |${" --- |".repeat(CODECS.length)}`,
  );
  for (const [name, hard] of HARD) {
    const cells = CODECS.map((codec) => verdict(codec, hard)).map((cell) =>
      cell === "changed" ? "**changed**" : cell,
    );
    lines.push(`| ${name} | ${cells.join(" | ")} |`);
  }
}

const start = performance.now();
decode(encode(1));
sealing();
linear();
await footprint();
const [other] = process.argv.slice(2);
if (other === "limits") {
  process.stdout.write([`## Node ${process.versions.node}`, "", ...lines].join("\n"));
  process.exit();
}
peers();
if (other !== undefined) {
  const args = [import.meta.filename, "limits"];
  const printed = execFileSync(other, args, { encoding: "utf8" });
  // Its headings stand one level lower, without the words that are said above.
  lines.push("", ...printed.replaceAll(/^## (?!Node)/gm, "### ").split("\n"));
}
const head = [
  "# Bench of `@holdpoint/seal`",
  "",
  `\`pnpm --filter bench bench:seal\`, Node ${process.versions.node}, ${cpus().length} cores, ${Math.round((performance.now() - start) / 1000)} s.`,
  "Processor time, medians of interleaved rounds of one run on a shared machine: read the ratios. Workloads are in `apps/bench/src/seal/workloads.ts`.",
  "",
];
writeFileSync(REPORT, [...head, ...lines, ""].join("\n"));
process.stdout.write(
  `${met ? "every limit met" : "some limits not met"}: docs/reports/seal-bench.md\n`,
);
