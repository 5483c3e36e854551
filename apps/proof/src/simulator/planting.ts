import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { build } from "esbuild";

import type { PlantedBug } from "./planted.ts";

/** Which seed found a planted bug, and by what. */
export interface Found {
  readonly seed: number;
  readonly fault: string;
}

const root = resolve(import.meta.dirname, "../../../..");

/** Simulates a copy of the product with a bug in it; `undefined`: no world up to so many seeds found it. */
export async function huntFor(
  bug: PlantedBug,
  { folder, seeds }: { readonly folder: string; readonly seeds: number },
): Promise<Found | undefined> {
  const program = await planted(bug, folder);
  const child = spawn(process.execPath, [program, String(seeds)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => void (out += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) return { seed: 0, fault: `the process ended with ${code}` };
  return out === "" ? undefined : (JSON.parse(out) as Found);
}

async function planted({ name, file, find, put }: PlantedBug, folder: string): Promise<string> {
  const path = join(root, file);
  const source = readFileSync(path, "utf8");
  if (source.split(find).length !== 2) throw new Error(`nowhere, or twice, to plant '${name}'`);
  const outfile = join(folder, `${name.replaceAll(/\W+/g, "-")}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, "planted-child.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node22",
    conditions: ["@holdpoint/source"],
    logLevel: "error",
    plugins: [
      {
        name: "plant",
        setup: (plugin) =>
          plugin.onLoad({ filter: /\.ts$/ }, ({ path: loaded }) =>
            loaded === path ? { contents: source.replace(find, () => put), loader: "ts" } : null,
          ),
      },
    ],
  });
  return outfile;
}
