/**
 * Every bit of envelopes of 1, 10 and 100 KB flipped, every truncation, and 10,000 random splices of two
 * genuine ones: `node test/long/flips.ts [sizes]`. Writes `docs/reports/seal-flips.md`.
 */
import { writeFileSync } from "node:fs";

import { createKeyring, isSealError, open, seal } from "../../src/index.ts";
import { nodeMac } from "../../src/node.ts";

const REPORT = new URL("../../../../docs/reports/seal-flips.md", import.meta.url);
const sizes = (process.argv[2] ?? "1000,10000,100000").split(",").map(Number);
const key = Uint8Array.from({ length: 32 }, (_, i) => i);
const options = {
  keyring: createKeyring({ current: { id: "k1", key }, mac: nodeMac }),
  purpose: "checkpoint",
};

function envelope(bytes: number, run: string): string {
  const items: object[] = [];
  for (let n = 0; seal(items, options).length < bytes; n++) {
    items.push({ n, at: new Date(n * 1000), text: `item ${n} of ${run}`, tags: new Set([n]) });
  }
  return seal(items, { ...options, header: { run } });
}

type Counts = { refused: number; version: number; opened: number };

function tryOpen(text: string, counts: Counts): void {
  try {
    open(text, options);
    counts.opened++;
  } catch (error) {
    if (isSealError(error, "checkpoint-tampered")) counts.refused++;
    else if (isSealError(error, "seal-version-unsupported")) counts.version++;
    else throw error;
  }
}

function flips(text: string): Counts {
  const counts = { refused: 0, version: 0, opened: 0 };
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      bytes[at]! ^= 1 << bit;
      tryOpen(bytes.toString("latin1"), counts);
      bytes[at]! ^= 1 << bit;
    }
  }
  return counts;
}

function truncations(text: string): Counts {
  const counts = { refused: 0, version: 0, opened: 0 };
  const step = Math.max(1, Math.floor(text.length / 10_000));
  for (let end = 0; end < text.length; end += step) tryOpen(text.slice(0, end), counts);
  return counts;
}

function splices(a: string, b: string): Counts {
  const counts = { refused: 0, version: 0, opened: 0 };
  let state = 7;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state % below;
  };
  for (let n = 0; n < 10_000; n++) {
    const spliced = a.slice(0, next(a.length)) + b.slice(next(b.length));
    if (spliced !== a && spliced !== b) tryOpen(spliced, counts);
  }
  return counts;
}

const rows: string[] = [];
for (const size of sizes) {
  const text = envelope(size, "run_a");
  const forms = {
    "bit flips": flips(text),
    truncations: truncations(text),
    splices: splices(text, envelope(size, "run_b")),
  };
  for (const [form, { refused, version, opened }] of Object.entries(forms)) {
    rows.push(
      `| ${text.length} B | ${form} | ${refused + version + opened} | ${refused} | ${version} | ${opened} |`,
    );
    process.stdout.write(`${rows.at(-1)}\n`);
  }
}
const lines = [
  "# Changed envelopes of `@holdpoint/seal`",
  "",
  `\`node packages/seal/test/long/flips.ts ${sizes.join(",")}\` on Node ${process.versions.node}.`,
  "A flip in the digit of the version is refused by name; everything else as tampered.",
  "",
  "| envelope | change | tried | tampered | version unsupported | opened |",
  "| --- | --- | --- | --- | --- | --- |",
  ...rows,
  "",
];
writeFileSync(REPORT, lines.join("\n"));
