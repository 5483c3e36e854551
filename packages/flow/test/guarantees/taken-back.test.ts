// Questions that are taken back, or are not, where a process loses its run in the middle.
import { memoryApprovalStore, StoreUnavailable, type ApprovalPort } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, replies, type Flow } from "../../src/index.ts";
import { settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { decided, State } from "../support/one-call.ts";
import { paused, rejection, stateOf, world, yes } from "../support/world.ts";

const scope = "default";

/** A port that holds one tool's question back until it is let go, and is away for another's. */
function tornPort(port: ApprovalPort, held: string, away: string) {
  let letGo: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  let filed: Promise<unknown> = Promise.resolve();
  const torn: ApprovalPort = {
    records: port.records!,
    async request(request, how) {
      if (request.tool === away) throw new StoreUnavailable("the approvals are away");
      if (request.tool !== held) return port.request(request, how);
      const { signal } = new AbortController(); // what is on its way by then hears of no abort
      const asked = gone.then(() => port.request(request, { ...how, signal }));
      filed = asked;
      return asked;
    },
  };
  return {
    torn,
    letGo: async () => {
      letGo();
      await filed;
      await settle(10); // what its run makes of the answer
    },
  };
}

describe("a question of a process that lost its run", () => {
  it("FLOW-77 stays as it is where another process has it on record by then", async () => {
    const { log: ran, gated, other } = effects();
    const both = flow("both", State)
      .node("pay", async ({ n }, ctx) => {
        const [one, two] = await Promise.all([ctx.call(gated, { n }), ctx.call(other, { n })]);
        return { sum: one.got + two.got };
      })
      .build();
    const here = world({ log: memoryRunLog() });
    const { torn, letGo } = tornPort(here.port, "gated", "other");
    const first = here.runner({ approvals: torn });
    const lost = await rejection(first.run(both, { n: 1 }, { runId: "r" }));
    expect(lost).toMatchObject({ code: "store-unavailable" });
    const { pendings } = paused(await here.runner().adopt(both, "r"));
    expect(pendings).toHaveLength(2);
    await letGo();
    expect(await here.count("pending")).toBe(2);
    const answers = replies(Object.fromEntries(pendings.map(({ id }) => [id, yes()])));
    expect(stateOf(await here.runner().resume(both, "r", answers))).toMatchObject({ sum: 20 });
    expect(ran.toSorted()).toEqual(["gated(1)", "other(1)"]);
  });

  it("FLOW-12 is taken back where the run goes on without it", async () => {
    const { gated, other } = effects();
    const limited = flow("limited", State)
      .node(
        "pay",
        async ({ n }, ctx) => {
          await Promise.all([
            ctx.call(gated, { n }),
            ctx.step("wait", () => new Promise(() => {})),
          ]);
          return {};
        },
        { timeoutMs: 5 },
      )
      .call("else", other, { args: ({ n }) => ({ n }) })
      .edge("pay", "else")
      .failed("pay", "else")
      .build();
    const here = world({ log: memoryRunLog() });
    const { torn, letGo } = tornPort(here.port, "gated", "");
    const result = await here.runner({ approvals: torn }).run(limited, { n: 1 }, { runId: "r" });
    expect(paused(result).pendings.map(({ tool }) => tool)).toEqual(["other"]);
    await letGo();
    expect(await here.outcomes()).toEqual(["cancelled"]);
  });
});

const asking: Readonly<Record<string, () => { readonly ran: string[]; readonly f: Flow }>> = {
  "a node's code": () => {
    const { log: ran, gated } = effects();
    const f = flow("f", State)
      .node("pay", async ({ n }, ctx) => ({ sum: (await ctx.call(gated, { n })).got }))
      .build();
    return { ran, f };
  },
  "a call node": () => {
    const { log: ran, gated } = effects();
    const f = flow("f", State)
      .call("pay", gated, { args: ({ n }) => ({ n }), into: ({ got }) => ({ sum: got }) })
      .build();
    return { ran, f };
  },
  "a gate": () => {
    const { log: ran, free } = effects();
    const f = flow("f", State)
      .gate("may", { payload: ({ n }) => ({ n }) })
      .call("pay", free, { args: ({ n }) => ({ n }), into: ({ got }) => ({ sum: got }) })
      .edge("may", "pay")
      .build();
    return { ran, f };
  },
};

describe("an approval that was taken back unused while its run waits for it", () => {
  it.each(Object.entries(asking))(
    "FLOW-77 APR-20 of %s allows nothing, and is asked for again",
    async (_, make) => {
      const { ran, f } = make();
      const store = memoryApprovalStore();
      const here = world({ store, log: memoryRunLog() });
      const { records } = here.port;
      const { id } = paused(await here.runner().run(f, { n: 1 }, { runId: "r" })).pending;
      await records.decide({ scope, id, decision: yes() });
      const how = { scope, id, attemptId: "gone", reason: "cancelled" } as const;
      await store.commit("gone", await records.withdraw(how));

      const late = await rejection(here.runner().resume(f, "r", replies({ [id]: yes() })));
      expect(late).toMatchObject(decided);
      const again = paused(await here.runner().resume(f, "r")).pending;
      expect(again.id).not.toBe(id);
      expect(ran).toEqual([]);
      expect(paused(await here.runner().adopt(f, "r")).pending.id).toBe(again.id);

      const ended = await here.runner().resume(f, "r", replies({ [again.id]: yes() }));
      expect(stateOf(ended)).toMatchObject({ sum: 10 });
      expect(ran).toHaveLength(1);
      const events = await here.runner().history(f, "r");
      const taken = events.filter(({ type }) => type === "superseded");
      expect(taken).toMatchObject([{ approvalId: id, again: true }]);
    },
  );

  it("FLOW-54 is one answer among others: what else was decided is spent in the same commit", async () => {
    const { log: ran, gated, other } = effects();
    const Both = z.object({
      n: z.number(),
      left: z.number().optional(),
      right: z.number().optional(),
    });
    const f = flow("f", Both)
      .node("fan", () => ({}))
      .call("left", gated, { args: ({ n }) => ({ n }), into: ({ got }) => ({ left: got }) })
      .call("right", other, { args: ({ n }) => ({ n }), into: ({ got }) => ({ right: got }) })
      .edge("fan", "left")
      .edge("fan", "right")
      .build();
    const store = memoryApprovalStore();
    const here = world({ store, log: memoryRunLog() });
    const { records } = here.port;
    const { pendings } = paused(await here.runner().run(f, { n: 1 }, { runId: "r" }));
    const [left, right] = pendings.map(({ id }) => id);
    for (const id of [left!, right!]) await records.decide({ scope, id, decision: yes() });
    const how = { scope, id: left!, attemptId: "gone", reason: "cancelled" } as const;
    await store.commit("gone", await records.withdraw(how));
    const { pending } = paused(await here.runner().resume(f, "r"));
    expect(ran).toEqual(["other(1)"]);
    const ended = await here.runner().resume(f, "r", replies({ [pending.id]: yes() }));
    expect(stateOf(ended)).toMatchObject({ left: 10, right: 10 });
    expect(ran).toEqual(["other(1)", "gated(1)"]);
  });
});
