import { memoryHome, type Row } from "@holdpoint/approvals";
import { sign } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { snapshotEventsMin } from "../../src/limits.ts";
import {
  appendWrite,
  flow,
  FlowRunner,
  memoryRunLog,
  snapshotWrite,
  type RunLog,
} from "../../src/index.ts";
import { logMeter } from "../support/log-meter.ts";
import { keyring, rejection, stateOf } from "../support/world.ts";

const scope = "default";

/** A loop whose every round calls a tool; what the tool did outlives its runner. */
function counting(rounds: number, idempotent = true) {
  const done: number[] = [];
  const add = defineTool({
    name: "add",
    description: "Adds.",
    input: z.object({ n: z.number() }),
    output: z.object({ sum: z.number() }),
    idempotent,
    execute: ({ n }) => {
      done.push(n);
      return { sum: n + 1 };
    },
  });
  const built = flow("count", z.object({ n: z.number(), seen: z.array(z.string()) }))
    .node("one", async ({ n, seen }, ctx) => {
      const { sum } = await ctx.call(add, { n });
      return { n: sum, seen: [...seen, `round ${n}`] };
    })
    .route("one", ["one", "$end"], ({ n }) => (n < rounds ? "one" : "$end"))
    .build();
  return { built, done };
}

const runnerOver = (log: RunLog) => new FlowRunner({ log, keyring });
const input = { n: 0, seen: [] };

/** A run that died far into its loop, on a home whose rows a test can touch. */
async function died(rounds: number, before: number, idempotent = true) {
  const home = memoryHome();
  const first = logMeter(memoryRunLog(home));
  const { built, done } = counting(rounds, idempotent);
  const death = first.dieAt(before);
  await Promise.race([death, runnerOver(first.log).run(built, input, { runId: "run-1" })]);
  const again = logMeter(memoryRunLog(home));
  return { home, built, done, log: again.log, again };
}

/** Puts another row in a row's place, as whoever can write the database may. */
function putBack(home: ReturnType<typeof memoryHome>, table: string, row: Row): void {
  const beneath = Object.getPrototypeOf(home) as typeof home;
  home.row = (of, scoped, key) =>
    of === table && key === row.key ? row : beneath.row(of, scoped, key);
}

describe("a run that died far into it", () => {
  it("FLOW-72 FLOW-74 is taken up from its snapshot, and its history is whole all the same", async () => {
    const { built, done, log, again } = await died(600, 900);
    const head = await log.head(scope, "run-1");
    expect(head).toBeGreaterThan(1_000);
    again.read();
    const state = stateOf(await runnerOver(log).adopt(built, "run-1"));
    expect(again.read()).toBeLessThan(2 * snapshotEventsMin);
    expect(state.seen).toEqual(Array.from({ length: 600 }, (_, n) => `round ${n}`));
    expect([...new Set(done)]).toEqual(Array.from({ length: 600 }, (_, n) => n));
    expect(done.length).toBeLessThanOrEqual(601); // the call that its process died in, again under its key
    const history = await runnerOver(log).history(built, "run-1");
    expect(history).toHaveLength(await log.head(scope, "run-1"));
    expect(history.filter(({ type }) => type === "call-finished")).toHaveLength(600);
  });

  it("FLOW-72 FLOW-77 is carried to the same end from every commit around a snapshot", async () => {
    const calm = counting(70, false);
    const whole = stateOf(await runnerOver(memoryRunLog()).run(calm.built, input));
    // Each round is five events and three commits: the first snapshot is taken near commit 155.
    for (let commit = 148; commit <= 162; commit += 1) {
      const { built, done, log } = await died(70, commit, false);
      const end = await runnerOver(log).adopt(built, "run-1");
      // The call that had begun when its process died is left to a person: nothing runs twice.
      const left = end.status === "paused" ? end.pending.kind : end.state;
      expect(["in-doubt", whole]).toContainEqual(left);
      expect(new Set(done).size).toBe(done.length);
    }
  });

  it("FLOW-72 needs no snapshot: without it the log is read", async () => {
    const { built, log } = await died(200, 350);
    const rows = await log.read(scope, "run-1", 0, 10_000);
    const copy = memoryRunLog();
    await copy.commit(
      "copy",
      rows.map(({ revision, text }) => appendWrite(scope, "run-1", revision, text)),
    );
    expect(await copy.snapshot(scope, "run-1")).toBeUndefined();
    expect(stateOf(await runnerOver(copy).adopt(built, "run-1")).n).toBe(200);
  });

  it("FLOW-72 needs no snapshot: one of a later form is let be, and replaced", async () => {
    const { built, log, home } = await died(200, 350);
    const row = home.row("snapshots", scope, "run-1")!;
    const revision = Number(row.values["revision"]);
    const header = { format: 2, scope, run: "run-1", rev: revision };
    const { text } = sign("of a later form", { keyring, purpose: "run-snapshot", header });
    const write = snapshotWrite(scope, "run-1", { version: row.version + 1, revision, text });
    await log.commit("later", [write]);
    expect(stateOf(await runnerOver(log).adopt(built, "run-1")).n).toBe(200);
    expect(home.row("snapshots", scope, "run-1")!.version).toBeGreaterThan(row.version + 1);
  });

  it("FLOW-50 FLOW-73 is refused with a snapshot that was changed, moved or is another run's", async () => {
    const { built, log, home } = await died(200, 350);
    const row = home.row("snapshots", scope, "run-1")!;
    const text = String(row.values["text"]);
    const other = counting(200);
    await runnerOver(memoryRunLog(home)).run(other.built, input, { runId: "run-2" });
    const foreign = String(home.row("snapshots", scope, "run-2")!.values["text"]);
    const revision = Number(row.values["revision"]);
    const touched: readonly Record<string, string | number>[] = [
      { revision, text: `${text.slice(0, 900)}#${text.slice(901)}` },
      { revision, text: foreign },
      { revision: revision - 1, text },
      { revision: revision + 1, text },
      { revision, text: "{}" },
    ];
    for (const values of touched) {
      const at = Object.create(home) as typeof home;
      putBack(at, "snapshots", { ...row, values });
      const error = await rejection(runnerOver(memoryRunLog(at)).adopt(built, "run-1"));
      expect(error).toMatchObject({ code: "checkpoint-tampered" });
    }
    expect(await log.head(scope, "run-1")).toBeGreaterThan(revision);
  });

  it("FLOW-73 STORE-12 is refused where its log ends before its snapshot, or is another one there", async () => {
    const { built, home } = await died(200, 350);
    const { revision } = home.row("snapshots", scope, "run-1")!.values;
    const log = memoryRunLog(home);
    const cut: RunLog = Object.assign(Object.create(log) as RunLog, {
      read: async (of: string, runId: string, after: number, limit: number) =>
        (await log.read(of, runId, after, limit)).filter((row) => row.revision < Number(revision)),
    });
    expect(await rejection(runnerOver(cut).adopt(built, "run-1"))).toMatchObject({
      code: "checkpoint-rolled-back",
    });
    // The same run, begun anew: every entry of it is genuine, and none is the one that the snapshot names.
    const anew = memoryRunLog();
    await runnerOver(anew).run(counting(200).built, input, { runId: "run-1" });
    const swapped: RunLog = Object.assign(Object.create(anew) as RunLog, {
      snapshot: (of: string, runId: string) => log.snapshot(of, runId),
    });
    expect(await rejection(runnerOver(swapped).adopt(built, "run-1"))).toMatchObject({
      code: "checkpoint-tampered",
    });
  });

  it("FLOW-72 goes on from an older genuine snapshot as from the newest", async () => {
    const home = memoryHome();
    const { built, done } = counting(400);
    const first = logMeter(memoryRunLog(home));
    await Promise.race([
      first.dieAt(300),
      runnerOver(first.log).run(built, input, { runId: "run-1" }),
    ]);
    const older = home.row("snapshots", scope, "run-1")!;
    const second = logMeter(memoryRunLog(home));
    await Promise.race([second.dieAt(400), runnerOver(second.log).adopt(built, "run-1")]);
    const at = Object.create(home) as typeof home;
    const stands = home.row("snapshots", scope, "run-1")!;
    putBack(at, "snapshots", { ...older, version: stands.version });
    expect(stateOf(await runnerOver(memoryRunLog(at)).adopt(built, "run-1")).n).toBe(400);
    expect(done.length).toBeLessThanOrEqual(402);
  });
});
