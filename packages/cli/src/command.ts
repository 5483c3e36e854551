import type { Desk } from "./desk.ts";
import type { Given } from "./given.ts";
import type { Output } from "./output.ts";

/** 0: done. 1: it could not be done. 2: wrong usage. 3: what was looked at is not as it should be. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface OptionSpec {
  /** What the help calls its value; absent for one that takes none. */
  readonly value?: string;
  readonly summary: string;
}

export interface Command {
  /** The words that name it: `approvals list`. */
  readonly path: string;
  readonly summary: string;
  /** What it takes beside options, each exactly once; `[NAME]` may be left out. */
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, OptionSpec>>;
  run(desk: Desk, given: Given, output: Output): Promise<ExitCode>;
}

/** What every command takes. */
export const common: Readonly<Record<string, OptionSpec>> = {
  store: { value: "PLACE", summary: "a SQLite file or a postgres:// URL; wins over the config's" },
  config: {
    value: "FILE",
    summary: "default: holdpoint.config.ts (or .mts, .js, .mjs) of this folder",
  },
  scope: { value: "NAME", summary: "the tenant that is looked at; default: default" },
  json: { summary: "one JSON document for machines, also where it fails" },
  help: { summary: "what a command does and takes" },
};
