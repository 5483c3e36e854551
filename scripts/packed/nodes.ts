import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Fetches a Node of an exact version from the npm registry and returns the path of its program.
 * It stays below `cache`, so that a second call costs nothing.
 *
 * @throws Error when the registry has no such build for this platform.
 */
export async function fetchNode(version: string, cache: string): Promise<string> {
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const folder = join(cache, version);
  const program = process.platform === "win32" ? "bin/node.exe" : "bin/node";
  const node = join(folder, "node_modules", name, program);
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }');
    const flags = ["--no-save", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"];
    await run("npm", ["install", ...flags, `${name}@${version}`], { cwd: folder });
  }
  const { stdout } = await run(node, ["--version"]);
  if (stdout.trim() !== `v${version}`) throw new Error(`${node} is ${stdout.trim()}`);
  return node;
}
