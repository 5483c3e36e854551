import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { parseSource } from "./source-file.ts";
import type { SourceFile } from "./source-file.ts";

type Versions = Readonly<Record<string, string>>;

/** The parts of a `package.json` that rules read. */
interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, unknown>> };
  readonly dependencies?: Versions;
  readonly peerDependencies?: Versions;
  readonly devDependencies?: Versions;
}

/** One package or app. */
export interface Member {
  /** From the repository's root: `packages/seal`. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** What is shipped or run: everything below `src`. */
  readonly source: readonly SourceFile[];
  /** Tests, benches and settings: every other file. */
  readonly tests: readonly SourceFile[];
}

/** Everything that the rules look at. */
export interface Workspace {
  readonly root: Manifest;
  readonly members: readonly Member[];
  /** The repository's own scripts and settings. */
  readonly scripts: readonly SourceFile[];
}

/** Builds a workspace from texts by path; a rule's test passes a few, the real tree all of them. */
export function assembleWorkspace(texts: ReadonlyMap<string, string>): Workspace {
  const files = [...texts].filter(([path]) => path.endsWith(".ts"));
  const parsed = files.map(([path, text]) => parseSource(path, text));
  const members = [...texts].flatMap(([path, text]) => {
    const folder = /^((?:packages|apps)\/[^/]+)\/package\.json$/.exec(path)?.[1];
    return folder === undefined ? [] : [makeMember(folder, readManifest(path, text), parsed)];
  });
  return {
    root: readManifest("package.json", texts.get("package.json") ?? '{"name":"root"}'),
    members,
    scripts: parsed.filter((file) => !/^(packages|apps)\//.test(file.path)),
  };
}

function makeMember(folder: string, manifest: Manifest, files: readonly SourceFile[]): Member {
  const own = files.filter((file) => file.path.startsWith(`${folder}/`));
  const source = own.filter((file) => file.path.startsWith(`${folder}/src/`));
  return { folder, manifest, source, tests: own.filter((file) => !source.includes(file)) };
}

function readManifest(path: string, text: string): Manifest {
  const value: unknown = JSON.parse(text);
  if (!isManifest(value)) throw new Error(`${path} has no name`);
  return value;
}

function isManifest(value: unknown): value is Manifest {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as Partial<Manifest>).name === "string"
  );
}

/** Every file of a member, its own and its tests. */
export function filesOf(member: Member): readonly SourceFile[] {
  return [...member.source, ...member.tests];
}

/** The members that are published: the folders below `packages`. */
export function packagesOf(workspace: Workspace): Member[] {
  return workspace.members.filter((member) => member.folder.startsWith("packages/"));
}

/** Reads the real tree below `root`: manifests and TypeScript files, built and installed ones apart. */
export function readTree(root: string): Map<string, string> {
  const texts = new Map<string, string>();
  const folders = ["packages", "apps", "scripts"];
  const paths = folders.flatMap((folder) => listFiles(root, folder));
  const top = readdirSync(root).filter((name) => name === "package.json" || name.endsWith(".ts"));
  for (const path of [...top, ...paths]) texts.set(path, readFileSync(join(root, path), "utf8"));
  return texts;
}

function listFiles(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      return ["node_modules", "dist", "coverage"].includes(entry.name) ? [] : listFiles(root, path);
    }
    return entry.name === "package.json" || entry.name.endsWith(".ts") ? [path] : [];
  });
}
