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

function installed(name: string): string | undefined {
  const file = new URL(`node_modules/${name}/package.json`, folder);
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
}

/** Installs them, where one is not there in its version; none of their scripts is run. */
export function installPeers(): void {
  if (Object.entries(dependencies()).every(([name, version]) => installed(name) === version))
    return;
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

/** Those that a bench measures, each with its version, as a report names them. */
export function peerVersions(measured?: readonly string[]): string {
  const versions = dependencies();
  return (measured ?? Object.keys(versions)).map((name) => `${name} ${versions[name]}`).join(", ");
}
