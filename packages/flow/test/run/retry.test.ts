import { defineTool, ToolError, type AnyTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, FlowRunner, inDoubt, memoryRunLog } from "../../src/index.ts";
import { handClock, settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { dana, paused, rejection, stateOf, waiting, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), note: z.string().optional() });
const never = new Promise<never>(() => {});

describe("a node that fails", () => {
  it("FLOW-12 is tried again as often and as late as it says, finished calls replayed, failed ones made anew", async () => {
    const { log, free } = effects();
    const clock = handClock();
    let failures = 2;
    const flaky = defineTool({
      name: "flaky",
      description: "fails at first",
      input: z.object({}),
      execute: () => {
        log.push("flaky");
        if ((failures -= 1) >= 0) throw new ToolError("busy", { retryable: true });
        return "fine";
      },
    });
    const f = flow("f", State)
      .node(
        "a",
        async (_, ctx) => {
          await ctx.call(free, { n: 1 });
          return { note: await ctx.call(flaky, {}) };
        },
        { retry: { attempts: 3, backoffMs: 100 } },
      )
      .build();
    const { runner, notices } = world({ clock });
    const running = runner().run(f, { n: 1 });
    await clock.move(99);
    expect(log).toEqual(["free(1)", "flaky"]);
    await clock.move(1);
    expect(log).toEqual(["free(1)", "flaky", "flaky"]);
    await clock.move(200);
    expect(stateOf(await running).note).toBe("fine");
    expect(log).toEqual(["free(1)", "flaky", "flaky", "flaky"]);
    expect(notices.filter(({ type }) => type === "retried")).toHaveLength(2);
  });

  it("FLOW-12 is tried again only for failures that say so, or that the node chose", async () => {
    const run = async (error: unknown, retry: object) => {
      let tries = 0;
      const f = flow("f", State)
        .node(
          "a",
          () => {
            tries += 1;
            throw error;
          },
          { retry: { attempts: 3, ...retry } },
        )
        .build();
      const failure = await rejection(new FlowRunner().run(f, { n: 1 }));
      return [tries, (failure.cause as Error).message];
    };
    expect(await run(new Error("plain"), {})).toEqual([1, "plain"]);
    expect(await run(new ToolError("busy", { retryable: true }), {})).toEqual([3, "busy"]);
    expect(await run(new Error("plain"), { on: () => true })).toEqual([3, "plain"]);
    expect(
      await run(new Error("plain"), {
        on: () => {
          throw new Error("bad rule");
        },
      }),
    ).toEqual([1, "bad rule"]);
    expect(
      await run(new Error("plain"), {
        on: () => true,
        backoffMs: () => {
          throw new Error("bad wait");
        },
      }),
    ).toEqual([1, "bad wait"]);
  });

  it("FLOW-12 counts its attempts over pauses", async () => {
    const { gated } = effects();
    let tries = 0;
    const f = flow("f", State)
      .node(
        "a",
        async (_, ctx) => {
          tries += 1;
          if (tries === 1) throw new Error("first");
          await ctx.call(gated, { n: 1 });
          throw new Error("later");
        },
        { retry: { attempts: 3, on: () => true } },
      )
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(tries).toBe(2);
    await rejection(runner().resume(f, first.checkpoint, yes()));
    expect(tries).toBe(4); // the second attempt again, from its top, and the third
  });

  it("FLOW-12 stops at its time limit, aborts its signal, and withdraws what it asked for", async () => {
    const { gated } = effects();
    const clock = handClock();
    let signal: AbortSignal | undefined;
    const slow = defineTool({
      name: "slow",
      description: "never ends",
      input: z.object({}),
      execute: () => never,
    });
    const f = flow("f", State)
      .node(
        "a",
        async (_, ctx) => {
          signal = ctx.signal;
          await Promise.all([ctx.call(gated, { n: 1 }), ctx.call(slow, {})]);
        },
        { timeoutMs: 1_000 },
      )
      .build();
    const { runner, outcomes } = world({ clock });
    const running = rejection(runner().run(f, { n: 1 }));
    await clock.move(1_000);
    expect(await running).toMatchObject({
      code: "node-failed",
      cause: { code: "timed-out", data: { node: "a#1" } },
    });
    expect(signal!.aborted).toBe(true);
    expect(await outcomes()).toEqual(["cancelled"]);
    expect(clock.waiting).toBe(0);
  });

  it("FLOW-12 takes a person's time as none of its own", async () => {
    const { gated } = effects();
    const clock = handClock();
    const f = flow("f", State)
      .node("a", async (_, ctx) => void (await ctx.call(gated, { n: 1 })), { timeoutMs: 1_000 })
      .build();
    const { runner } = world({ clock });
    const first = paused(await runner().run(f, { n: 1 }));
    expect(clock.waiting).toBe(0);
    await clock.move(3_600_000);
    stateOf(await runner().resume(f, first.checkpoint, yes()));
  });

  it("FLOW-12 TOOL-13 is tried again by itself only where no effect was under way whose end nobody knows", async () => {
    const said = {
      idempotent: undefined,
      ran: (tool: AnyTool) => inDoubt.ran(tool, "found out", { by: dana }),
      "did not run": () => inDoubt.didNotRun({ by: dana }),
      failed: () => inDoubt.failed({ by: dana }),
    };
    const ends = {
      idempotent: ['{"n":1,"note":"done"}', 2],
      ran: ['{"n":1,"note":"found out"}', 1],
      "did not run": ['{"n":1,"note":"done"}', 2],
      failed: ["in-doubt", 1],
    };
    for (const log of [undefined, memoryRunLog()]) {
      for (const [what, say] of Object.entries(said)) {
        const clock = handClock();
        let entered = 0;
        const slow = defineTool({
          name: "slow",
          description: "is slow",
          input: z.object({}),
          output: z.string(),
          idempotent: say === undefined,
          execute: () => ((entered += 1), entered === 1 ? never : "done"),
        });
        const f = flow("f", State)
          .node("a", async (_, ctx) => ({ note: await ctx.call(slow, {}) }), {
            timeoutMs: 1_000,
            retry: { attempts: 2, on: () => true },
          })
          .build();
        const { runner } = world({ clock, ...(log !== undefined && { log }) });
        const running = runner().run(f, { n: 1 });
        await clock.move(1_000);
        let result = await running;
        if (say !== undefined) {
          const { pending, checkpoint } = waiting(result);
          if (pending.kind !== "in-doubt") throw new Error("no doubt");
          const next = runner().resume(f, checkpoint, say(slow));
          result = (await next.catch(
            (error: { cause: { code: string } }) => error.cause.code,
          )) as never;
        }
        const end = typeof result === "string" ? result : JSON.stringify(stateOf(result));
        expect({ what, end: [end, entered] }).toEqual({
          what,
          end: ends[what as keyof typeof ends],
        });
      }
    }
  });

  it("FLOW-12 takes back what a port files after its time was over", async () => {
    const { gated } = effects();
    const clock = handClock();
    const { runner, port, outcomes } = world({ clock });
    let go: (() => void) | undefined;
    const slow = {
      records: port.records,
      async request(...how: Parameters<typeof port.request>) {
        const answer = await port.request(how[0], {
          ...how[1],
          signal: new AbortController().signal,
        });
        await new Promise<void>((resolve) => (go = resolve));
        return answer;
      },
    };
    const f = flow("f", State)
      .node("a", async (_, ctx) => void (await ctx.call(gated, { n: 1 })), { timeoutMs: 1_000 })
      .node("mend", () => ({ note: "mended" }))
      .failed("a", "mend")
      .build();
    const running = runner({ approvals: slow }).run(f, { n: 1 });
    await clock.move(1_000);
    expect(stateOf(await running).note).toBe("mended");
    go!();
    await settle();
    expect(await outcomes()).toEqual(["cancelled"]);
  });
});
