/** Peak memory, import time and bundle size, each measured in a process of its own. */
import { execFileSync } from "node:child_process";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

const WORKLOADS = new URL("workloads.ts", import.meta.url).href;

function run(source: string, ...flags: string[]): string {
  const args = [...flags, "--input-type=module", "--eval", source];
  const cwd = new URL("../..", import.meta.url);
  return execFileSync(process.execPath, args, { encoding: "utf8", cwd });
}

/** Growth of the process's high-water mark while sealing, or opening, as a multiple of the text. */
export function peakOverText(
  what: "seal" | "open",
  kind: "nested" | "strings",
  bytes: number,
): number {
  const ratio = run(
    `
    import { createKeyring, open, seal } from "@holdpoint/seal";
    import { nodeMac } from "@holdpoint/seal/node";
    import { nested, strings } from ${JSON.stringify(WORKLOADS)};
    const keyring = createKeyring({ current: { id: "k", key: new Uint8Array(32) }, mac: nodeMac });
    const options = { keyring, purpose: "checkpoint" };
    seal(nested(1000), options);
    const make = { nested, strings }.${kind};
    let value = make(${bytes});
    const text = JSON.stringify(value);
    const sealed = ${what === "open" ? "seal(value, options)" : "undefined"};
    if (sealed) value = undefined;
    const size = text.length;
    globalThis.gc();
    const start = process.memoryUsage().rss;
    const result = ${what === "open" ? "open(sealed, options)" : "seal(value, options)"};
    const peak = Math.max(process.resourceUsage().maxRSS * 1024, process.memoryUsage().rss);
    console.log((peak - start) / size, result === undefined);
    `,
    "--expose-gc",
  );
  return Number(ratio.split(" ")[0]);
}

/** Processor milliseconds that importing an entry takes in a fresh process: the least disturbed of a few. */
export function importMs(entry: string): number {
  const source = `
    const before = process.cpuUsage();
    await import(${JSON.stringify(entry)});
    const { user, system } = process.cpuUsage(before);
    console.log((user + system) / 1000);`;
  return Math.min(...Array.from({ length: 15 }, () => Number(run(source))));
}

/** Bytes of a minimal program that seals and opens, minified and compressed. */
export async function bundleBytes(): Promise<number> {
  const result = await build({
    stdin: {
      contents: 'export { keyringOf, open, seal } from "@holdpoint/seal";',
      resolveDir: new URL("../..", import.meta.url).pathname,
    },
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    logLevel: "silent",
  });
  return gzipSync(result.outputFiles[0]!.contents, { level: 9 }).length;
}
