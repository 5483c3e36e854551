/**
 * What a project tells the command line of itself: `holdpoint.config.ts` beside its `package.json`, or the file that `--config`
 * names. Without one the commands that need no keys work, and the others say what is missing.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import type { Actor, EditPort } from "@holdpoint/approvals";
import type { Codec, Keyring, Model } from "@holdpoint/seal";
import type { Workflow } from "@holdpoint/workflows";

import { CliError } from "./errors.ts";

export interface Config {
  /** Where everything is kept: the path of a SQLite file, or a `postgres://` URL. `--store` wins over it. */
  readonly store?: string;
  /** The schema in a Postgres database; default as `openPostgres`. */
  readonly schema?: string;
  /** The scope that is looked at; default `default`. `--scope` wins over it. */
  readonly scope?: string;
  /** What sealed the store. Nothing is believed, and nobody decides, without it. */
  readonly keyring?: Keyring;
  /** The workflows whose runs are in the store. */
  readonly definitions?: readonly Workflow[];
  /** Checks arguments that a person edits: `editsOf(tools)`. Without it edits are refused. */
  readonly edits?: EditPort;
  /** Classes and custom values that inputs, states and results may hold. */
  readonly models?: readonly Model[];
  readonly codecs?: readonly Codec[];
  /** Who decides here, asked when somebody does: from the host's identity port, or `unverified(name)`. */
  readonly identity?: () => Actor | Promise<Actor>;
}

/** Checks a config's types, and gives it back. */
export function defineConfig(config: Config): Config {
  return config;
}

const names = ["holdpoint.config.ts", "holdpoint.config.mts", "holdpoint.config.js", "holdpoint.config.mjs"]; // prettier-ignore

type Members = { readonly [Name in keyof Config]-?: (value: unknown) => boolean };

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

const members: Members = {
  store: isText,
  schema: isText,
  scope: isText,
  keyring: isObject,
  definitions: Array.isArray,
  edits: isObject,
  models: Array.isArray,
  codecs: Array.isArray,
  identity: (value) => typeof value === "function",
};

/**
 * The config at `path`, or the one in `folder`; an empty one where neither is.
 * @throws CliError `config-invalid`
 */
export async function loadConfig(folder: string, path: string | undefined): Promise<Config> {
  const file = path === undefined ? standardFile(folder) : resolve(folder, path);
  if (file === undefined) return {};
  if (!existsSync(file)) throw invalid(file, "is not there");
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(file).href)) as typeof module;
  } catch (cause) {
    throw invalid(file, "fails when it is loaded", cause);
  }
  return checked(file, module.default);
}

function standardFile(folder: string): string | undefined {
  return names.map((name) => resolve(folder, name)).find((file) => existsSync(file));
}

function checked(file: string, value: unknown): Config {
  if (!isObject(value)) throw invalid(file, "has no default export made by `defineConfig`");
  for (const [name, member] of Object.entries(value as object)) {
    const fits = Object.hasOwn(members, name) ? members[name as keyof Config] : undefined;
    if (fits === undefined) throw invalid(file, `exports '${name}', which is no setting`);
    if (member !== undefined && !fits(member))
      throw invalid(file, `exports a '${name}' of the wrong kind`);
  }
  return value as Config;
}

function invalid(file: string, why: string, cause?: unknown): CliError {
  const said = cause instanceof Error ? `: ${cause.message}` : "";
  return new CliError("config-invalid", `the config ${file} ${why}${said}`, { file }, cause);
}
