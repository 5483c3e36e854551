import { DeferredApproval, memoryApprovalStore, memoryHome } from "@holdpoint/approvals";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  flow,
  FlowRunner,
  memoryRunLog,
  replies,
  unverified,
  type LogRow,
  type RunEvent,
  type RunLog,
} from "../../src/index.ts";
import { keyring, rejection, yes } from "../support/world.ts";

const scope = "default";
const State = z.object({ n: z.number(), got: z.string().optional() });

/** What is in a run's log, as whoever looks from outside finds it. */
async function onRecord(log: RunLog, runId: string): Promise<readonly string[]> {
  const rows = await log.read(scope, runId, 0, 1_000);
  return rows.map(({ text }) => /\\"type\\":\\"([a-z-]+)\\"/.exec(text)?.[1] ?? "?");
}

/** A flow of one node that calls a tool; the tool and the node look into the log as they run. */
function looking(how: { readonly idempotent?: true; readonly drawn?: true }) {
  const log = memoryRunLog();
  const seen: Record<string, readonly string[]> = {};
  const Plain = z.object({ n: z.number() });
  const tool = defineTool({
    name: "tool",
    description: "Looks into the log.",
    input: how.drawn === true ? Plain.extend({ id: z.string().default("drawn") }) : Plain,
    ...(how.idempotent === true && { idempotent: true }),
    execute: async () => {
      seen["at the effect"] = await onRecord(log, "run-1");
      return "result";
    },
  });
  const built = flow("looking", State)
    .node("calls", async ({ n }, ctx) => {
      const got = String(await ctx.call(tool, { n }));
      seen["with the result"] = await onRecord(log, "run-1");
      return { got };
    })
    .node("next", async (_, ctx) => {
      seen["at the next node"] = await onRecord(log, "run-1");
      await ctx.step("any", () => 1);
    })
    .path("calls", "next")
    .build();
  return { log, seen, built };
}

describe("a durable run", () => {
  const begun = ["run-started", "visit-started", "call-started"];
  it.each([
    ["a tool that is not idempotent", {}, begun],
    ["an idempotent one whose arguments were drawn", { idempotent: true, drawn: true }, begun],
    ["an idempotent one called as it was asked", { idempotent: true }, begun.slice(0, 2)],
  ] as const)(
    "FLOW-72 has on record what it must before and after a call of %s",
    async (_, how, atTheEffect) => {
      const { log, seen, built } = looking(how);
      await new FlowRunner({ log, keyring }).run(built, { n: 1 }, { runId: "run-1" });
      const finished = [...atTheEffect, "call-finished"];
      expect(seen).toEqual({
        "at the effect": atTheEffect,
        "with the result": finished,
        "at the next node": [...finished, "visit-finished", "routed", "visit-started"].slice(0, -1),
      });
    },
  );

  it("FLOW-74 tells its whole history, without a gap, with what happened, when and by whom", async () => {
    const home = memoryHome();
    const log = memoryRunLog(home);
    const approvals = new DeferredApproval(memoryApprovalStore(home), { keyring });
    const runner = new FlowRunner({ log, approvals, keyring });
    const built = flow("two", State)
      .gate("first", { payload: ({ n }) => ({ n }) })
      .gate("second", { payload: ({ n }) => ({ n }) })
      .path("first", "second")
      .build();
    const before = Date.now();
    const held = await runner.run(built, { n: 1 }, { runId: "run-1" });
    if (held.status !== "paused") throw new Error(held.status);
    await runner.resume(built, "run-1", replies({ [held.pending.id]: yes() }));
    await runner.cancel(built, "run-1", { reason: "no more", by: unverified("rita") });
    const events = await runner.history(built, "run-1");
    const rows = await log.read(scope, "run-1", 0, 1_000);
    expect(rows.map(({ revision }) => revision)).toEqual(events.map((_, at) => at + 1));
    for (const { at } of events) {
      expect(at).toBeGreaterThanOrEqual(before);
      expect(at).toBeLessThanOrEqual(Date.now());
    }
    const find = <T extends RunEvent["type"]>(type: T) =>
      events.find((event) => event.type === type);
    expect(find("answered")).toMatchObject({ answers: [{ decision: { by: { id: "dana" } } }] });
    expect(find("cancelled")).toMatchObject({ reason: "no more", by: { id: "rita" } });
    expect(events[0]?.type).toBe("run-started");
    expect(events.at(-1)?.type).toBe("cancelled");
  });

  it("FLOW-75 R142 keeps an id that is taken, and the loser does nothing", async () => {
    const { log, seen, built } = looking({});
    const runner = new FlowRunner({ log, keyring });
    await runner.run(built, { n: 1 }, { runId: "run-1" });
    const before = await onRecord(log, "run-1");
    for (const name of Object.keys(seen)) delete seen[name];
    const error = await rejection(runner.run(built, { n: 2 }, { runId: "run-1" }));
    expect(error).toMatchObject({ name: "GraphRunExistsError", code: "run-exists" });
    expect(seen).toEqual({});
    expect(await onRecord(log, "run-1")).toEqual(before);
  });

  it("FLOW-75 lets one of several that go on at a revision go on, and the others have no effect", async () => {
    const done: number[] = [];
    const act = defineTool({
      name: "act",
      description: "Acts.",
      input: z.object({ n: z.number() }),
      execute: ({ n }) => void done.push(n),
    });
    const built = flow("race", State)
      .node("acts", async ({ n }, ctx) => {
        await ctx.call(act, { n });
      })
      .build();
    const inner = memoryRunLog();
    // The process that began it is gone right after its first entry.
    const dying: RunLog = {
      ...inner,
      commit: async (attemptId, writes) => {
        if ((await inner.head(scope, "run-1")) > 0) return new Promise(() => undefined);
        return inner.commit(attemptId, writes.slice(0, 1));
      },
    };
    void new FlowRunner({ log: dying, keyring }).run(built, { n: 7 }, { runId: "run-1" });
    while ((await inner.head(scope, "run-1")) === 0) await Promise.resolve();
    const adopters = Array.from({ length: 8 }, () =>
      new FlowRunner({ log: inner, keyring }).adopt(built, "run-1"),
    );
    const ended = await Promise.allSettled(adopters);
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const lost = ended.flatMap((one) => (one.status === "rejected" ? [one.reason as Error] : []));
    expect(lost.map(({ name }) => name)).toEqual(Array(7).fill("RevisionConflictError"));
    expect(done).toEqual([7]);
  });
});

describe("a log that somebody touched", () => {
  async function logged() {
    const log = memoryRunLog();
    const { built } = looking({});
    const runner = new FlowRunner({ log, keyring });
    for (const runId of ["run-1", "run-2"]) await runner.run(built, { n: 1 }, { runId });
    const rows = await log.read(scope, "run-1", 0, 100);
    const others = await log.read(scope, "run-2", 0, 100);
    return { log, built, rows, others };
  }

  const renumbered = (rows: readonly LogRow[]): readonly LogRow[] =>
    rows.map(({ text }, at) => ({ revision: at + 1, text }));

  it("FLOW-73 is refused whatever entry was removed, moved, repeated, swapped, changed or added", async () => {
    const { log, built, rows, others } = await logged();
    const last = rows.length - 1;
    const touched: readonly (readonly LogRow[])[] = [
      ...rows.slice(0, -1).map((_, at) => rows.toSpliced(at, 1)),
      ...rows.slice(0, -1).map((_, at) => renumbered(rows.toSpliced(at, 1))),
      ...rows.slice(0, -1).map((row, at) => renumbered(rows.toSpliced(at, 2, rows[at + 1]!, row))),
      ...rows.map((row, at) => renumbered(rows.toSpliced(at, 0, row))),
      ...rows.map((_, at) => rows.with(at, others[at]!)),
      ...rows.map((row, at) =>
        rows.with(at, { ...row, text: row.text.replace(/"rev":\d+/, `"rev":${at + 9}`) }),
      ),
      ...rows.map((row, at) => rows.with(at, { ...row, text: row.text.replace("state", "stats") })),
      [...rows, { revision: last + 2, text: others[last]!.text }],
      [...rows, { revision: last + 2, text: rows[last]!.text }],
      [...rows, { revision: last + 2, text: "{}" }],
    ];
    for (const [number, each] of touched.entries()) {
      if (JSON.stringify(each) === JSON.stringify(rows)) continue;
      const over: RunLog = { ...log, read: async () => each };
      const runner = new FlowRunner({ log: over, keyring });
      for (const reads of [
        () => runner.history(built, "run-1"),
        () => runner.adopt(built, "run-1"),
      ]) {
        const error = await rejection(reads());
        expect([number, error.code]).toEqual([number, "checkpoint-tampered"]);
      }
    }
  });
});
