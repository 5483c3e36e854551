import { memoryHome } from "@holdpoint/approvals";
import { defineTool, ToolError } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { snapshotEventsMin } from "../../src/limits.ts";
import { flow, FlowRunner, memoryRunLog, type RunEvent } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { logMeter } from "../support/log-meter.ts";
import { paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), a: z.number().optional(), b: z.number().optional() });

/** Two nodes side by side, one of which fails once after a call; effects outlive their process. */
function breaking(times = 1) {
  const { log: made, free, tool } = effects();
  let left = times;
  const fail = tool("fail", {
    run: (n) => {
      if ((left -= 1) >= 0) throw new ToolError("broken");
      return n;
    },
  });
  const f = flow("f", State)
    .node("start", () => {})
    .node("work", async (_, ctx) => {
      await ctx.call(free, { n: 1 });
      return { a: (await ctx.call(fail, { n: 2 })).got };
    })
    .node("beside", async (_, ctx) => ({ b: (await ctx.call(free, { n: 3 })).got }))
    .edge("start", "work")
    .edge("start", "beside")
    .build();
  return { f, made };
}

const isRetried = ({ type }: RunEvent) => type === "run-retried";

describe("a retry and its log", () => {
  it("WF-29 FLOW-77 is taken up after a crash before any of its commits: retried or not, and nothing twice", async () => {
    const begun: boolean[] = [];
    for (let commit = 1; ; commit += 1) {
      const home = memoryHome();
      const { f, made } = breaking();
      const first = world({ log: memoryRunLog(home) });
      await rejection(first.runner().run(f, { n: 1 }, { runId: "r" }));
      const dying = logMeter(memoryRunLog(home));
      const death = dying.dieAt(commit).then(() => "died" as const);
      const retrying = first.runner({ log: dying.log }).retry(f, "r");
      if ((await Promise.race([death, retrying])) !== "died") break;

      const after = first.runner({ log: memoryRunLog(home) });
      const events = await after.history(f, "r");
      const isRunning = events.some(isRetried);
      begun.push(isRunning);
      // Where it has begun it is adopted, and not begun a second time; where it has not, it is to be begun anew.
      const wrong = await rejection(isRunning ? after.retry(f, "r") : after.adopt(f, "r"));
      expect(wrong.code).toBe(isRunning ? "not-failed" : "resume-terminal");
      const end = await (isRunning ? after.adopt(f, "r") : after.retry(f, "r"));
      // A call that had begun is left to a person; otherwise the run is whole.
      const how = end.status === "paused" ? end.pending.kind : end.status;
      expect(["completed", "in-doubt"]).toContain(how);
      expect(made.filter((call) => call.startsWith("free")).toSorted()).toEqual([
        "free(1)",
        "free(3)",
      ]);
      expect(made.filter((call) => call === "fail(2)").length).toBeLessThanOrEqual(2);
    }
    expect(begun[0]).toBe(false);
    expect(begun.slice(1).every(Boolean)).toBe(true);
    expect(begun.length).toBeGreaterThan(3);
  });

  it("WF-29 FLOW-75 is begun once where two begin it", async () => {
    const { f, made } = breaking();
    const { runner } = world({ log: memoryRunLog() });
    await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    const both = await Promise.allSettled([runner().retry(f, "r"), runner().retry(f, "r")]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const lost = both.find((one) => one.status === "rejected");
    expect(lost?.reason).toMatchObject({ code: "revision-conflict" });
    expect(made.filter((call) => call === "fail(2)")).toHaveLength(2);
    expect((await runner().history(f, "r")).filter(isRetried)).toHaveLength(1);
  });

  it("WF-29 FLOW-60 is for failed runs alone", async () => {
    const { log: made, gated } = effects();
    const f = flow("f", State)
      .call("pay", gated, { args: ({ n }) => ({ n }), into: ({ got }) => ({ a: got }) })
      .build();
    const { runner } = world({ log: memoryRunLog() });
    const first = paused(await runner().run(f, { n: 1 }, { runId: "waits" }));
    expect(await rejection(runner().retry(f, "waits"))).toMatchObject({ code: "not-failed" });
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(await rejection(runner().retry(f, "waits"))).toMatchObject({
      code: "resume-terminal",
      data: { status: "completed" },
    });
    await runner().run(f, { n: 1 }, { runId: "gone" });
    await runner().cancel(f, "gone", { reason: "enough" });
    expect(await rejection(runner().retry(f, "gone"))).toMatchObject({
      code: "resume-terminal",
      data: { status: "cancelled" },
    });
    expect(await rejection(runner().retry(f, "nobody"))).toMatchObject({ code: "run-not-found" });
    expect(await rejection(world().runner().retry(f, "waits"))).toMatchObject({
      code: "run-not-found",
    });
    expect(made).toEqual(["gated(1)"]);
  });

  it("WF-29 FLOW-50 trusts no log that was changed, and runs nothing of it", async () => {
    const home = memoryHome();
    const { f, made } = breaking();
    const { runner } = world({ log: memoryRunLog(home) });
    await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    const before = made.length;
    const foreign = new FlowRunner({ log: memoryRunLog(home), checkpointKey: key(9) });
    expect(await rejection(foreign.retry(f, "r"))).toMatchObject({
      code: "checkpoint-tampered",
    });
    expect([made.length, (await runner().history(f, "r")).some(isRetried)]).toEqual([
      before,
      false,
    ]);
  });

  it("WF-29 FLOW-72 goes on from its snapshot when it is taken up again, and is retried behind one", async () => {
    const { tool } = effects();
    let fails = 2;
    const done: number[] = [];
    const add = tool("add", {
      idempotent: true,
      run: (n) => {
        if (n === 80 && (fails -= 1) >= 0) throw new ToolError("broken");
        done.push(n);
        return n + 1;
      },
    });
    const f = flow("count", State)
      .node("one", async ({ n }, ctx) => ({ n: (await ctx.call(add, { n })).got }))
      .route("one", ["one", "$end"], ({ n }) => (n < 160 ? "one" : "$end"))
      .build();
    const home = memoryHome();
    const { runner } = world({ log: memoryRunLog(home) });
    await rejection(runner().run(f, { n: 0 }, { runId: "r" }));
    expect(home.row("snapshots", "default", "r")).toBeDefined();
    await rejection(runner().retry(f, "r"));
    const dying = logMeter(memoryRunLog(home));
    const death = dying.dieAt(200);
    await Promise.race([death, runner({ log: dying.log }).retry(f, "r")]);
    const again = logMeter(memoryRunLog(home));
    expect(stateOf(await runner({ log: again.log }).adopt(f, "r")).n).toBe(160);
    expect(again.read()).toBeLessThan(2 * snapshotEventsMin);
    expect([...new Set(done)]).toEqual(Array.from({ length: 160 }, (_, n) => n));
  });

  it("WF-29 FLOW-53 goes over to a changed graph where there is a way, and is refused where there is none", async () => {
    const made: string[] = [];
    let fails = true;
    const work = defineTool({
      name: "work",
      description: "works",
      input: z.object({ n: z.number() }),
      output: z.object({ got: z.number() }),
      execute: ({ n }) => {
        made.push(`work(${n})`);
        if (n === 2 && fails) throw new ToolError("broken");
        return { got: n };
      },
    });
    const graph = (node: string) =>
      flow("f", State)
        .node(node, async (_, ctx) => {
          await ctx.call(work, { n: 1 });
          return { a: (await ctx.call(work, { n: 2 })).got };
        })
        .build();
    const [was, is] = [graph("old"), graph("new")];
    const { runner } = world({ log: memoryRunLog() });
    await rejection(runner().run(was, { n: 1 }, { runId: "r" }));
    fails = false;
    expect(await rejection(runner().retry(is, "r"))).toMatchObject({
      code: "graph-version-mismatch",
    });
    const migrations = [{ flow: "f", from: was.digest, to: is.digest, nodes: { old: "new" } }];
    expect(stateOf(await runner({ migrations }).retry(is, "r")).a).toBe(2);
    expect(made).toEqual(["work(1)", "work(2)", "work(2)"]);
    const types = (await runner({ migrations }).history(is, "r")).map(({ type }) => type);
    expect(types.slice(types.indexOf("run-retried"))).toEqual(
      expect.arrayContaining(["run-retried", "migrated", "completed"]),
    );
  });
});

const key = (fill: number) => new Uint8Array(32).fill(fill);
