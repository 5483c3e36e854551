import type { ApprovalPort } from "@holdpoint/approvals";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, FlowRunner, memoryRunLog, type NodeContext } from "../../src/index.ts";
import { handClock, settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), note: z.string().optional() });
const never = new Promise<never>(() => {});
const aborted = { name: "FlowError", code: "aborted", cause: "enough" };

describe("an aborted run", () => {
  it("FLOW-07 resolves to plain data, and carries code, flow, node, run and cause in its failures", async () => {
    const f = flow("f", State)
      .node("a", (s) => ({ note: `${s.n}` }))
      .build();
    const done = await new FlowRunner().run(f, { n: 1 }, { runId: "r" });
    expect(done).toEqual({ status: "completed", runId: "r", state: { n: 1, note: "1" } });
    expect(structuredClone(done)).toEqual(done);
    const cause = new RangeError("deep");
    const g = flow("g", State)
      .node("a", () => {
        throw cause;
      })
      .build();
    expect(await rejection(new FlowRunner().run(g, { n: 1 }, { runId: "r" }))).toMatchObject({
      name: "FlowError",
      code: "node-failed",
      data: { flow: "g", runId: "r", node: "a#1" },
      cause: { name: "RangeError", message: "deep" },
    });
  });

  it("FLOW-07 withdraws what it asked for, tells running tools, and does not hang on a stuck one or on stuck code", async () => {
    const { gated } = effects();
    let told: AbortSignal | undefined;
    const stuck = defineTool({
      name: "stuck",
      description: "never ends",
      input: z.object({}),
      execute: (_, { signal }) => ((told = signal), never),
    });
    const bodies: Record<string, (ctx: NodeContext) => Promise<unknown>> = {
      "a stuck tool": (ctx) => ctx.call(stuck, {}),
      "a stuck step": (ctx) => ctx.step("stuck", () => never),
      "stuck code": () => never,
    };
    for (const [what, body] of Object.entries(bodies)) {
      const f = flow("f", State)
        .node("start", () => ({}))
        .call("asks", gated, { args: { n: 1 } })
        .node("stuck", async (_, ctx) => void (await body(ctx)))
        .edge("start", "asks")
        .edge("start", "stuck")
        .build();
      const { runner, outcomes, count } = world();
      const stop = new AbortController();
      const running = rejection(runner().run(f, { n: 1 }, { signal: stop.signal, runId: "r" }));
      await settle();
      expect(await count("pending"), `over ${what}`).toBe(1);
      stop.abort("enough");
      expect(await running, `over ${what}`).toMatchObject({
        ...aborted,
        data: { flow: "f", runId: "r" },
      });
      expect(await outcomes(), `over ${what}`).toEqual(["cancelled"]);
    }
    expect(told!.aborted).toBe(true);
  });

  it("FLOW-07 stops between rounds, before a round, and while it waits to try again", async () => {
    const stop = new AbortController();
    const ran: string[] = [];
    const f = flow("f", State)
      .node("a", () => {
        ran.push("a");
        stop.abort("enough");
      })
      .node("b", () => void ran.push("b"))
      .path("a", "b")
      .build();
    expect(
      await rejection(new FlowRunner().run(f, { n: 1 }, { signal: stop.signal })),
    ).toMatchObject(aborted);
    expect(
      await rejection(new FlowRunner().run(f, { n: 1 }, { signal: stop.signal })),
    ).toMatchObject(aborted);
    expect(ran).toEqual(["a"]);
    const clock = handClock();
    const again = new AbortController();
    const g = flow("g", State)
      .node(
        "a",
        () => {
          throw new Error("no");
        },
        { retry: { attempts: 3, backoffMs: 60_000, on: () => true } },
      )
      .build();
    const running = rejection(new FlowRunner({ clock }).run(g, { n: 1 }, { signal: again.signal }));
    await settle();
    expect(clock.waiting).toBe(1);
    again.abort("enough");
    expect(await running).toMatchObject(aborted);
    expect(clock.waiting).toBe(0);
  });

  it("FLOW-07 asks no route and makes no update once it is aborted, also where nothing is left to run", async () => {
    const stop = new AbortController();
    let asked = 0;
    const f = flow("f", State)
      .node("a", () => ({ n: 2 }))
      .route("a", ["$end"], () => {
        asked += 1;
        return "$end";
      })
      .build();
    const onEvent = ({ type }: { type: string }) =>
      void (type === "visit-finished" && stop.abort("enough"));
    const running = new FlowRunner({ onEvent }).run(f, { n: 1 }, { signal: stop.signal });
    expect(await rejection(running)).toMatchObject(aborted);
    expect(asked).toBe(0);
  });

  it("FLOW-07 takes back what a slow port files after the abort", async () => {
    const { gated } = effects();
    const flows = [
      flow("f", State)
        .gate("a", { payload: (s) => s.n })
        .build(),
      flow("f", State)
        .call("a", gated, { args: { n: 1 } })
        .build(),
    ];
    for (const f of flows) {
      const { runner, port, count, outcomes } = world();
      let go: (() => void) | undefined;
      const slow: ApprovalPort = {
        records: port.records,
        async request(request, how) {
          const answer = await port.request(request, {
            ...how,
            signal: new AbortController().signal,
          });
          await new Promise<void>((resolve) => (go = resolve));
          return answer;
        },
      };
      const stop = new AbortController();
      const running = rejection(
        runner({ approvals: slow }).run(f, { n: 1 }, { signal: stop.signal }),
      );
      await settle();
      stop.abort("enough");
      expect(await running).toMatchObject(aborted);
      expect(await count("pending")).toBe(1);
      go!();
      await settle();
      expect(await outcomes()).toEqual(["cancelled"]);
    }
  });

  it("FLOW-07 leaves a resumable place where there is a log", async () => {
    const { log, free } = effects();
    const ledger = memoryRunLog();
    let stuck = true;
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        const { got } = await ctx.call(free, { n: 1 });
        if (stuck) await never;
        return { note: String(got) };
      })
      .build();
    const { runner } = world({ log: ledger });
    const stop = new AbortController();
    const running = rejection(runner().run(f, { n: 1 }, { signal: stop.signal, runId: "r" }));
    await settle();
    stop.abort("enough");
    expect(await running).toMatchObject(aborted);
    stuck = false;
    expect(stateOf(await runner().adopt(f, "r")).note).toBe("10");
    expect(log).toEqual(["free(1)"]);
  });

  it("FLOW-07 says of an approval that it was used and failed where the abort cut its call off", async () => {
    const stuck = defineTool({
      name: "stuck",
      description: "never ends",
      input: z.object({}),
      confirm: true,
      execute: () => never,
    });
    const f = flow("f", State).call("a", stuck, { args: {} }).build();
    const { runner, outcomes } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const stop = new AbortController();
    const running = rejection(runner().resume(f, first.checkpoint, yes(), { signal: stop.signal }));
    await settle();
    stop.abort("enough");
    expect(await running).toMatchObject(aborted);
    await settle();
    expect(await outcomes()).toEqual(["failed"]);
  });
});
