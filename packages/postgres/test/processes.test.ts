import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { describe, expect, it } from "vitest";

import { behind, opened, place, url } from "./place.ts";
import { append, put, scope } from "./record-writes.ts";
import { wholeUpTo } from "./whole-commits.ts";

const program = (server: string, name: string, ...args: readonly string[]): string[] => [
  "--conditions=@holdpoint/source",
  join(import.meta.dirname, name),
  server,
  ...args,
];

/** A child process that is told a line and answers one. */
function teller(name: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, program(url, name, ...args), {
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

describe("two processes of 32 clients each on one schema", () => {
  it("STORE-04 STORE-11 have one winner a record and one a revision", async () => {
    const schema = place();
    const rounds = 25;
    const store = await opened(schema);
    const racers = ["p1", "p2"].map((name) => teller("racer.ts", schema, name, "32"));
    await Promise.all(racers.map(({ answer }) => answer()));
    const winners = new Set<string>();
    const oneWinner = ["done", ...Array<string>(63).fill("refused")];
    for (let round = 1; round <= rounds; round += 1) {
      await store.commit(`f-${round}`, [put(`record-${round}`, 0), append(`record-${round}`, 1)]);
      for (const { tell } of racers) tell(round);
      const answers = (await Promise.all(racers.map(({ answer }) => answer())))
        .join(",")
        .split(",");
      const [decided, logged] = [0, 1].map((at) => answers.map((each) => each.split(" ")[at]));
      expect(decided?.toSorted()).toEqual(oneWinner);
      expect(logged?.toSorted()).toEqual(oneWinner);
      const at = logged?.indexOf("done") ?? -1;
      const text = `p${at < 32 ? 1 : 2}-${at % 32}`;
      winners.add(text);
      const read = await store.log.read(scope, "run-1", round - 1, 2);
      expect(read).toEqual([{ revision: round, text }]);
    }
    expect(winners.size).toBeGreaterThan(1);
    expect(await store.approvals.changes(scope, 0, 10 * rounds)).toHaveLength(2 * rounds);
    await Promise.all(racers.map(({ end }) => end()));
  });
});

describe("a process that is killed while it commits", () => {
  it("STORE-07 leaves each commit whole or not at all, none that it told of is lost, and its attempt goes on", async () => {
    const schema = place();
    const store = await opened(schema);
    let next = 1;
    for (let round = 1; round <= 6; round += 1) {
      const told = await killedAfter(schema, next, 2 + ((round * 7) % 23));
      const { head, again, revisions, counts } = await wholeUpTo(store);
      expect(revisions).toEqual(Array.from({ length: head }, (_, at) => at + 1));
      expect(counts).toEqual([head, head, head]);
      expect(again).toEqual({ status: "done", repeated: true });
      expect(head).toBeGreaterThanOrEqual(told);
      expect(head).toBeLessThanOrEqual(told + 1);
      next = head + 1;
    }
    expect(next).toBeGreaterThan(16);
  });
});

/** Runs the committing process until it has told of so many commits, kills it, and answers the last one that it told of. */
async function killedAfter(schema: string, from: number, commits: number): Promise<number> {
  const named = new URL(url);
  named.searchParams.set("application_name", schema);
  const writer = spawn(process.execPath, program(named.href, "killed.ts", schema, `${from}`), {
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
  // What it had sent is carried out all the same, and then its connections end.
  const left = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1";
  while (((await behind.query(left, [schema])).rowCount ?? 0) > 0);
  expect(errors).toBe("");
  return Number(out.trim().split("\n").at(-1));
}
