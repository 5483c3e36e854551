/** The libraries that are compared with: plain programs beside their packages, which are installed on first use. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = new URL("../../peers/", import.meta.url);

function dependencies(): Record<string, string> {
  const file = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as {
    dependencies: Record<string, string>;
  };
  return file.dependencies;
}

/** Installs them, where one is not there yet; none of their scripts is run. */
export function installPeers(): void {
  const there = (name: string): boolean => existsSync(new URL(`node_modules/${name}`, folder));
  if (Object.keys(dependencies()).every(there)) return;
  console.error("installing the peers …");
  execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], {
    cwd: fileURLToPath(folder),
    stdio: "ignore",
  });
}

/** An adapter's module, by its path among them. */
export function peerModule(file: string): string {
  return new URL(file, folder).href;
}

/** Each with its version, as a report names them. */
export function peerVersions(): string {
  return Object.entries(dependencies())
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
}
