import { existsSync, readFileSync, rmSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

import { approve, unverified } from "@holdpoint/approvals";
import { replies } from "@holdpoint/flow";
import { openSqlite } from "@holdpoint/sqlite";
import { afterAll, expect, it } from "vitest";

import { bundled, folderFor, runChild } from "../src/child-process.ts";
import { endings, errandOn } from "../src/endings/errand.ts";

const folder = folderFor("endings");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const source = (name: string): string => join(import.meta.dirname, "../src/endings", name);
const dana = unverified("dana");

/** Acts in their order, each under its key, and how many keys there were of each. */
function done(acts: string) {
  const lines = existsSync(acts) ? readFileSync(acts, "utf8").trimEnd().split("\n") : [];
  const keys = (name: string) => new Set(lines.filter((line) => line.startsWith(name))).size;
  return {
    looked: keys("look"),
    paid: keys("pay"),
    payments: lines.filter((line) => line.startsWith("pay")).length,
  };
}

it.each(endings)(
  "FLOW-77 R021 R022 a process that ends by itself (%s) leaves a run that is adopted, asks once and pays once",
  async (ends) => {
    const program = bundled(source("child.ts"), folder);
    const [file, acts] = [join(folder, `${ends}.db`), join(folder, `${ends}.acts`)];
    const { code } = await runChild(program, { file, acts, ends });
    expect(code).toBe(ends === "rejection" ? 1 : 7);
    const store = openSqlite(file);
    const { errand, runner } = errandOn({ ...store, acts });
    const waits = await runner.adopt(errand, "errand-1");
    if (waits.status !== "paused") throw new Error(waits.status);
    const page = { order: "oldest", limit: 10 } as const;
    const pending = await store.approvals.list("default", { state: "pending" }, page);
    expect(pending.map(({ key }) => key)).toEqual([waits.pending.id]);
    const yes = replies({ [waits.pending.id]: approve({ by: dana }) });
    const end = await runner.resume(errand, "errand-1", yes);
    expect(end).toMatchObject({ status: "completed", state: { paid: "r-A-17" } });
    expect(done(acts)).toEqual({ looked: 1, paid: 1, payments: 1 });
    store.close();
  },
);

it("FLOW-54 FLOW-70 R129 of two threads that a checkpoint was posted to one resumes it, and pays once", async () => {
  const program = bundled(source("thread.ts"), folder);
  const [file, acts] = [join(folder, "threads.db"), join(folder, "threads.acts")];
  const store = openSqlite(file);
  const { errand, runner } = errandOn({ approvals: store.approvals, acts });
  const waits = await runner.run(errand, { orderId: "A-17" });
  if (waits.status !== "paused") throw new Error(waits.status);
  const { checkpoint } = waits;
  const said = await Promise.all(
    [1, 2].map(async () => {
      const thread = new Worker(program, { workerData: { file, acts, checkpoint } });
      const [first] = (await once(thread, "message")) as [string];
      await thread.terminate();
      return first;
    }),
  );
  expect(said.toSorted()).toEqual(["approval-already-decided", "completed"]);
  expect(done(acts)).toEqual({ looked: 1, paid: 1, payments: 1 });
  store.close();
});
