import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A published package as its tarball says, and where that tarball lies. */
export interface Tarball {
  readonly name: string;
  readonly file: string;
  /** The short name, which is its folder's below `packages`. */
  readonly folder: string;
  /** What a program may import: `@holdpoint/seal`, `@holdpoint/seal/node`. */
  readonly entries: readonly string[];
  /** Peers that a user has to install beside it, with their ranges. */
  readonly peers: Readonly<Record<string, string>>;
  /** Peers that only some entries need. */
  readonly optionalPeers: Readonly<Record<string, string>>;
  /** The paths inside, without the leading `package/`. */
  readonly paths: readonly string[];
}

interface PackedManifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/**
 * Packs every package below `packages` into `target`, in one run of pnpm, and reads what came out:
 * the manifest in the tarball, not the one in the tree, is what a user gets.
 *
 * @throws Error when a package was not built.
 */
export async function packAll(root: string, target: string): Promise<Tarball[]> {
  const folders = readdirSync(join(root, "packages"));
  for (const folder of folders) {
    if (!existsSync(join(root, "packages", folder, "dist/index.js"))) {
      throw new Error(`packages/${folder} is not built: run "pnpm build" first`);
    }
  }
  const filter = ["-r", "--filter", "./packages/*"];
  await run("pnpm", [...filter, "pack", "--pack-destination", target], { cwd: root });
  return Promise.all(folders.map((folder) => readTarball(root, target, folder)));
}

async function readTarball(root: string, target: string, folder: string): Promise<Tarball> {
  const source = readManifest(readFileSync(join(root, "packages", folder, "package.json"), "utf8"));
  const stem = source.name.replace("@", "").replace("/", "-");
  const name = readdirSync(target).find((each) => each.startsWith(`${stem}-`));
  if (name === undefined) throw new Error(`${source.name} was not packed`);
  const file = join(target, name);
  const [manifest, listing] = await Promise.all([
    run("tar", ["-xzOf", file, "package/package.json"]),
    run("tar", ["-tzf", file]),
  ]);
  const packed = readManifest(manifest.stdout);
  return {
    name: packed.name,
    file,
    folder,
    entries: Object.keys(packed.exports)
      .filter((entry) => entry !== "./package.json")
      .map((entry) => packed.name + entry.slice(1)),
    peers: peersOf(packed, false),
    optionalPeers: peersOf(packed, true),
    paths: listing.stdout
      .trim()
      .split("\n")
      .map((path) => path.replace(/^package\//, "")),
  };
}

function peersOf(manifest: PackedManifest, optional: boolean): Record<string, string> {
  const { peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  return Object.fromEntries(
    Object.entries(peerDependencies).filter(
      ([name]) => (peerDependenciesMeta[name]?.optional === true) === optional,
    ),
  );
}

function readManifest(text: string): PackedManifest {
  const value: unknown = JSON.parse(text);
  if (!isManifest(value)) throw new Error("a package.json lacks its name or exports");
  return value;
}

function isManifest(value: unknown): value is PackedManifest {
  if (typeof value !== "object" || value === null) return false;
  const { name, exports } = value as Partial<PackedManifest>;
  return typeof name === "string" && typeof exports === "object";
}
