import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import type { Tarball } from "./tarballs.ts";

const run = promisify(execFile);

/**
 * A folder in which one packed package is installed, alone but for the peers that it asks for. A
 * package with optional peers has two: one without them, where its main entry has to work, and one
 * with them, where every entry has to. A package whose main job takes others of ours has one more,
 * `NAME-in-use`, with what its program imports.
 */
export interface Stranger {
  readonly tarball: Tarball;
  /** The folder's own name: `seal`, `seal-with-peers`. */
  readonly name: string;
  readonly folder: string;
  /** `imports.ts` loads every entry; `program.ts`, where there is one, does the main job. */
  readonly programs: readonly string[];
}

/**
 * Installs each tarball for a user of its own, in one run of pnpm over one temporary workspace.
 * Nothing is hoisted and no peer is added by itself, so that a package which uses what it does not
 * declare fails here as it would for a user. Packages of ours come from their tarballs.
 * `nodeTypes` is the version of `@types/node` that they are compiled with.
 */
export async function installStrangers(
  tarballs: readonly Tarball[],
  programs: string,
  target: string,
  nodeTypes: string,
): Promise<Stranger[]> {
  mkdirSync(target, { recursive: true });
  const overrides = tarballs.map(({ name, file }) => `  "${name}": "file:${file}"`);
  writeFileSync(join(target, "pnpm-workspace.yaml"), settings(overrides));
  writeJson(join(target, "package.json"), {
    name: "strangers",
    private: true,
    dependencies: { "@types/node": nodeTypes },
  });
  const strangers = tarballs
    .flatMap((tarball) => [
      ...guestsOf(tarball, tarballs),
      ...guestInUse(tarball, tarballs, programs),
    ])
    .map((guest) => settle(guest, programs, target));
  try {
    await run("pnpm", ["install", "--prefer-offline", "--no-frozen-lockfile"], { cwd: target });
  } catch (cause) {
    throw new Error(`the packed packages do not install:\n${outputOf(cause)}`, { cause });
  }
  return strangers;
}

function settings(overrides: readonly string[]): string {
  return [
    "packages:",
    '  - "*"',
    "hoist: false",
    "autoInstallPeers: false",
    "strictPeerDependencies: true",
    "dedupePeerDependents: false", // else one stranger's zod is there for another one's seal
    "linkWorkspacePackages: false",
    "overrides:",
    ...overrides,
    "",
  ].join("\n");
}

interface Guest {
  readonly tarball: Tarball;
  readonly name: string;
  readonly peers: Readonly<Record<string, string>>;
  readonly entries: readonly string[];
}

function guestsOf(tarball: Tarball, tarballs: readonly Tarball[]): Guest[] {
  const { folder: name, entries, optionalPeers } = tarball;
  const peers = allPeers(tarball, tarballs);
  if (Object.keys(optionalPeers).length === 0) return [{ tarball, name, peers, entries }];
  const all = { ...peers, ...optionalPeers };
  return [
    { tarball, name, peers, entries: [tarball.name] },
    { tarball, name: `${name}-with-peers`, peers: all, entries },
  ];
}

/** With the packages of ours that its program imports beside it. */
function guestInUse(tarball: Tarball, tarballs: readonly Tarball[], programs: string): Guest[] {
  const name = `${tarball.folder}-in-use`;
  const program = join(programs, `${name}.ts`);
  if (!existsSync(program)) return [];
  const text = readFileSync(program, "utf8");
  const companions = tarballs.filter((other) => text.includes(`from "${other.name}"`));
  const peers: Record<string, string> = {};
  for (const { name: own, file } of companions) peers[own] = `file:${file}`;
  for (const one of [tarball, ...companions]) {
    for (const [peer, range] of Object.entries(one.peers)) peers[peer] ??= range;
  }
  return [{ tarball, name, peers, entries: [tarball.name] }];
}

/** The peers that a user has to install: those of the package, and those that its peers ask for. */
function allPeers(tarball: Tarball, tarballs: readonly Tarball[]): Record<string, string> {
  const peers: Record<string, string> = { ...tarball.peers };
  for (const { name, peers: theirs } of tarballs) {
    if (name in tarball.peers) Object.assign(peers, theirs);
  }
  return peers;
}

function settle({ tarball, name, peers, entries }: Guest, from: string, target: string): Stranger {
  const folder = join(target, name);
  mkdirSync(folder);
  writeJson(join(folder, "package.json"), {
    name: `stranger-${name}`,
    private: true,
    type: "module",
    dependencies: { ...peers, [tarball.name]: `file:${tarball.file}` },
  });
  writeFileSync(join(folder, "imports.ts"), importAll(entries));
  const programs = ["imports.ts"];
  const program = join(from, `${name}.ts`);
  if (existsSync(program)) {
    copyFileSync(program, join(folder, "program.ts"));
    programs.push("program.ts");
  }
  return { tarball, name, folder, programs };
}

function importAll(entries: readonly string[]): string {
  const lines = entries.map((entry, at) => `import * as entry${at} from "${entry}";`);
  const names = entries.map((_, at) => `...Object.values(entry${at})`);
  return [
    ...lines,
    `const all: readonly unknown[] = [${names.join(", ")}];`,
    'if (all.includes(undefined)) throw new Error("an export is undefined");',
    "",
  ].join("\n");
}

/** Checks every stranger's programs against the shipped declarations, without any of our settings. */
export async function checkTypes(
  strangers: readonly Stranger[],
  target: string,
  tsc: string,
): Promise<void> {
  const config = join(target, "tsconfig.json");
  writeJson(config, {
    compilerOptions: {
      target: "es2023",
      lib: ["es2023"],
      module: "nodenext",
      strict: true,
      noEmit: true,
      skipLibCheck: false, // the shipped declarations are what is checked
      types: ["node"],
    },
    files: strangers.flatMap(({ name, programs }) =>
      programs.map((program) => `${name}/${program}`),
    ),
  });
  try {
    await run(process.execPath, [tsc, "-p", config], { cwd: target });
  } catch (cause) {
    throw new Error(`shipped types do not compile:\n${outputOf(cause)}`, { cause });
  }
}

/**
 * Runs a stranger's programs on a Node and returns all that they print, which should be nothing.
 *
 * @param databaseUrl A Postgres that they may use.
 * @throws Error with the output when one fails, or does not end by itself in 20 s.
 */
export async function runPrograms(
  stranger: Stranger,
  node: string,
  databaseUrl: string,
): Promise<string> {
  let printed = "";
  for (const program of stranger.programs) {
    try {
      // Node 22 announces that node:sqlite and type stripping are experimental there.
      const flags = ["--disable-warning=ExperimentalWarning", program];
      const { stdout, stderr } = await run(node, flags, {
        cwd: stranger.folder,
        timeout: 20_000,
        env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
      });
      printed += stdout + stderr;
    } catch (cause) {
      throw new Error(`${stranger.name}: ${program} failed:\n${outputOf(cause)}`, {
        cause,
      });
    }
  }
  return printed;
}

function outputOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const { stdout = "", stderr = "" } = cause as { stdout?: string; stderr?: string };
  return `${stdout}${stderr}` || cause.message;
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, JSON.stringify(value, undefined, 2));
}
