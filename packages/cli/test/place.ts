import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { keyringOf } from "@holdpoint/seal";
import { openSqlite } from "@holdpoint/sqlite";
import { editsOf } from "@holdpoint/tools";
import { Supervisor } from "@holdpoint/workflows";
import type { RunStatus } from "@holdpoint/workflows";
import { onTestFinished, vi } from "vitest";

import { runCli } from "../src/index.ts";
import { pay, refund } from "./desk/refund.ts";

export const keyring = keyringOf(new Uint8Array(32).fill(7));
/** Where the config of the tests is. */
export const deskFolder = join(import.meta.dirname, "desk");

/** A new folder, gone when the test ends. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A program that has a session, over a file; it ends with the test, or when it is told to. */
export async function program(file: string, session = "desk") {
  const store = openSqlite(file);
  const edits = editsOf([pay]);
  const definitions = [refund];
  const supervisor = new Supervisor({ store, keyring, definitions, edits, session, pollMs: 20 });
  await supervisor.activate();
  let ended = false;
  const end = async (): Promise<void> => {
    if (ended) return;
    ended = true;
    await supervisor.shutdown();
    store.close();
  };
  onTestFinished(end);
  /** Waits until a run stands so: what is decided elsewhere is heard of in a while. */
  const until = (runId: string, status: RunStatus): Promise<unknown> =>
    vi.waitUntil(async () => (await supervisor.get(runId))?.status === status, 60_000);
  return { supervisor, store, end, until };
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** What `--json` gave. */
  readonly json: () => Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- as a machine reads it
}

/** Runs a command line in a folder. */
export async function holdpoint(folder: string, ...words: readonly string[]): Promise<Ran> {
  let out = "";
  let err = "";
  const code = await runCli(words, {
    folder,
    out: (text) => (out += text),
    err: (text) => (err += text),
  });
  return { code, out, err, json: () => JSON.parse(out) };
}
