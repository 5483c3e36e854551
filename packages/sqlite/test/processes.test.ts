import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { openSqlite } from "../src/index.ts";
import { place } from "./place.ts";
import { append, entry, put, scope } from "./record-writes.ts";

const program = (name: string, ...args: readonly string[]): string[] => [
  "--conditions=@holdpoint/source",
  join(import.meta.dirname, name),
  ...args,
];

/** A child process that is told a line and answers one. */
function teller(name: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, program(name, ...args), {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    answer: async () => String((await lines.next()).value),
    tell: (line: number) => void child.stdin.write(`${line}\n`),
    end: async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

describe("four processes on one file", () => {
  it("STORE-03 STORE-11 have one winner a record and one a revision", async () => {
    const path = place()();
    const rounds = 40;
    const store = openSqlite(path);
    const racers = ["p1", "p2", "p3", "p4"].map((name) => teller("racer.ts", path, name));
    await Promise.all(racers.map(({ answer }) => answer()));
    const winners = new Set<string>();
    for (let round = 1; round <= rounds; round += 1) {
      await store.commit(`f-${round}`, [put(`record-${round}`, 0), append(`record-${round}`, 1)]);
      for (const { tell } of racers) tell(round);
      const answers = await Promise.all(racers.map(({ answer }) => answer()));
      const [decided, logged] = [0, 1].map((at) => answers.map((each) => each.split(" ")[at]));
      const oneWinner = ["done", "refused", "refused", "refused"];
      expect(decided?.toSorted()).toEqual(oneWinner);
      expect(logged?.toSorted()).toEqual(oneWinner);
      const text = `p${(logged?.indexOf("done") ?? 0) + 1}`;
      winners.add(text);
      expect(await store.log.read(scope, "run-1", round - 1, 2)).toEqual([
        { revision: round, text },
      ]);
    }
    expect(winners.size).toBeGreaterThan(1);
    expect(await store.approvals.changes(scope, 0, 10 * rounds)).toHaveLength(2 * rounds);
    await Promise.all(racers.map(({ end }) => end()));
    store.close();
  });

  it("STORE-03 APR-27 wake each other", async () => {
    const path = place()();
    const store = openSqlite(path);
    const last = await store.approvals.lastChange(scope);
    const waiting = store.approvals.wait(scope, last, new AbortController().signal);
    const writer = spawn(process.execPath, program("killed.ts", path), { stdio: "ignore" });
    await waiting;
    writer.kill("SIGKILL");
    await once(writer, "exit");
    expect((await store.approvals.changes(scope, 0, 1))[0]?.row.key).toBe(
      append("record-1", 1).key,
    );
    store.close();
  });
});

describe("a process that is killed while it commits", () => {
  it("STORE-07 leaves each commit whole or not at all, none that it told of is lost, and its attempt goes on", async () => {
    const path = place()();
    let next = 1;
    for (let round = 1; round <= 8; round += 1) {
      const told = await killedAfter(path, next, 2 + ((round * 7) % 23));
      const { head, check } = await wholeUpTo(path);
      check();
      expect(head).toBeGreaterThanOrEqual(told);
      expect(head).toBeLessThanOrEqual(told + 1);
      next = head + 1;
    }
    expect(next).toBeGreaterThan(16);
  });
});

/** Runs the committing process until it has told of so many commits, kills it, and answers the last one that it told of. */
async function killedAfter(path: string, from: number, commits: number): Promise<number> {
  const writer = spawn(process.execPath, program("killed.ts", path, `${from}`), {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let errors = "";
  writer.stderr.on("data", (chunk: Buffer) => void (errors += chunk.toString()));
  writer.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    if (out.split("\n").length > commits) writer.kill("SIGKILL");
  });
  await once(writer, "close");
  expect(errors).toBe("");
  return Number(out.trim().split("\n").at(-1));
}

/** Opens the file as the next process does; `check` fails where one row of a commit is there and another is not. */
async function wholeUpTo(path: string) {
  const store = openSqlite(path);
  const head = await store.log.head(scope, "run-1");
  const run = await store.runs.get(scope, "run-1");
  const pending = await store.approvals.list(
    scope,
    { state: "pending" },
    { order: "oldest", limit: 10_000 },
  );
  const changes = await store.approvals.changes(scope, 0, 10_000);
  const log = await store.log.read(scope, "run-1", 0, 10_000);
  const repeated = await store.commit(`attempt-${head}`, [
    put(`record-${head}`, 0),
    append(`record-${head}`, 1),
    entry(head, "x".repeat(5_000)),
  ]);
  store.close();
  const handle = new DatabaseSync(path);
  const integrity = handle.prepare("PRAGMA integrity_check").all();
  handle.close();
  const check = (): void => {
    expect(log.map(({ revision }) => revision)).toEqual(log.map((_, at) => at + 1));
    expect([log.length, run?.version, pending.length, changes.length]).toEqual(Array(4).fill(head));
    expect(repeated).toEqual({ status: "done", repeated: true });
    expect(integrity).toEqual([{ integrity_check: "ok" }]);
  };
  return { head, check };
}
