// Work that is still under way when its run has been left: it asks nobody for what this process would not take in.
import { DeferredApproval, StoreUnavailable, type ApprovalPort } from "@holdpoint/approvals";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, replies, type Flow, type FlowRunner } from "../../src/index.ts";
import { settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { State } from "../support/one-call.ts";
import { keyring, paused, rejection, world, yes } from "../support/world.ts";

type Held = "find" | "commit";

function signal() {
  let give: () => void = () => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { give, given };
}

/**
 * The approvals of a process that is about to leave its run: the first `find` or `commit` of a question is held until it is let go,
 * and then `other`'s question finds its store away.
 */
function torn({ store }: ReturnType<typeof world>, held: Held) {
  const [reached, gone] = [signal(), signal()];
  let asked: Promise<unknown> = Promise.resolve();
  const hold = async () => {
    reached.give();
    await gone.given;
  };
  const slow = new DeferredApproval(
    {
      ...store,
      find: async (...how) => {
        if (held === "find") await hold();
        return store.find(...how);
      },
      commit: async (...how) => {
        if (held === "commit") await hold();
        return store.commit(...how);
      },
    },
    { keyring },
  );
  const port: ApprovalPort = {
    records: slow.records,
    async request(request, how) {
      if (request.tool !== "other") return (asked = slow.request(request, how));
      await reached.given;
      throw new StoreUnavailable("the approvals are away");
    },
  };
  return {
    port,
    reached: reached.given,
    letGo: async () => {
      gone.give();
      await Promise.allSettled([asked]);
      await settle(10); // what its run makes of the answer
    },
  };
}

/** Code that asks for two things side by side. */
const asking: Readonly<Record<string, () => { readonly ran: string[]; readonly f: Flow }>> = {
  "a call": () => {
    const { log: ran, gated, other } = effects();
    const f = flow("f", State)
      .node("pay", async ({ n }, ctx) => {
        const [one, two] = await Promise.all([ctx.call(gated, { n }), ctx.call(other, { n })]);
        return { sum: one.got + two.got };
      })
      .build();
    return { ran, f };
  },
  "a gate of a nested run": () => {
    const { log: ran, other } = effects();
    const within = flow("within", z.object({ n: z.number() }))
      .gate("may", { payload: ({ n }) => ({ n }) })
      .build();
    const f = flow("f", State)
      .node(
        "pay",
        async ({ n }, ctx) => {
          const [, { got }] = await Promise.all([ctx.run(within, { n }), ctx.call(other, { n })]);
          return { sum: got };
        },
        { runs: [within] },
      )
      .build();
    return { ran, f };
  },
};

/** Takes the run up again and lets people allow all that it asks for, until it has completed. */
async function carried(runner: FlowRunner, f: Flow): Promise<void> {
  let result = await runner.adopt(f, "r");
  while (result.status === "paused") {
    const { pendings } = paused(result);
    result = await runner.resume(
      f,
      "r",
      replies(Object.fromEntries(pendings.map(({ id }) => [id, yes()]))),
    );
  }
}

describe.each(Object.entries(asking))("%s of a run that a lost store took", (_, make) => {
  it.each(["find", "commit"] as const)(
    "FLOW-77 asks for nothing once the run has been taken up again and has spent its approval: %s",
    async (held) => {
      const { ran, f } = make();
      const here = world({ log: memoryRunLog() });
      const { port, letGo } = torn(here, held);
      const lost = here.runner({ approvals: port }).run(f, { n: 1 }, { runId: "r" });
      expect(await rejection(lost)).toMatchObject({ code: "store-unavailable" });
      await carried(here.runner(), f);
      const before = ran.length;
      await letGo();
      expect(await here.count("pending")).toBe(0);
      expect(await here.count("consumed")).toBe(2);
      expect(ran).toHaveLength(before);
    },
  );
});

it("FLOW-07 FLOW-26 files nothing for a run without a log once a sibling has ended it", async () => {
  const { gated } = effects();
  const unsealable = defineTool({
    name: "unsealable",
    description: "Asks for what nobody can be shown.",
    input: z.object({ it: z.any() }),
    output: z.object({}),
    confirm: true,
    execute: () => ({}),
  });
  const here = world();
  const { port, reached, letGo } = torn(here, "find");
  const f = flow("f", State)
    .node("pay", async ({ n }, ctx) => {
      const asked = ctx.call(gated, { n });
      await reached;
      await ctx.call(unsealable, { it: () => n });
      return { sum: (await asked).got };
    })
    .build();
  const ended = await rejection(here.runner({ approvals: port }).run(f, { n: 1 }));
  expect(ended).toMatchObject({ code: "state-not-sealable" });
  await letGo();
  expect((await here.port.records.list("default", {})).items).toEqual([]);
});
