import type { ApprovalPort } from "@holdpoint/approvals";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog } from "../../src/index.ts";
import { paused, stateOf, world, yes } from "../support/world.ts";

const State = z.object({
  list: z.array(z.string()).optional(),
  results: z.array(z.string()).optional(),
});

/** A port that does something else to the values of the run while it files, and before it answers. */
function meanwhile(port: ApprovalPort, work: () => void): ApprovalPort {
  return {
    ...(port.records !== undefined && { records: port.records }),
    request: async (request, how) => {
      work();
      const answer = await port.request(request, how);
      work();
      return answer;
    },
  };
}

describe.each([
  ["portable", {}],
  ["durable", { log: memoryRunLog() }],
])("a %s run whose code goes on with values that it has given away", (name, options) => {
  it("R050 FLOW-26 holds them as of when they were given, before, while and after it pauses", async () => {
    const list = ["one"];
    const result = ["kept"];
    const change = (): void => {
      list.push("later");
      result.push("later");
    };
    const make = defineTool({
      name: "make",
      description: "Makes.",
      input: z.object({ list: z.array(z.string()) }),
      output: z.array(z.string()),
      execute: () => result,
    });
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      input: z.object({ list: z.array(z.string()) }),
      output: z.array(z.string()),
      confirm: true,
      execute: ({ list: of }) => of,
    });
    const seen: unknown[] = [];
    const f = flow("f", State)
      .node("make", async (_, ctx) => {
        const made = ctx.call(make, { list });
        list.push("while it is called");
        list.splice(1);
        return { list, results: [...(await made)] };
      })
      .gate("review", { payload: ({ list: of }) => ({ list: of }) })
      .call("pay", pay, {
        args: ({ list: of = [] }) => ({ list: [...of] }),
        into: (of) => (seen.push(of), {}),
      })
      .path("make", "review", "pay")
      .build();
    const here = world();
    const runner = () => here.runner({ ...options, approvals: meanwhile(here.port, change) });
    const first = paused(await runner().run(f, {}, { runId: `one-${name}` }));
    change();
    expect(first.pending.request.arguments).toEqual({ list: ["one"] });
    const text = runner().dumpCheckpoint(first.checkpoint);
    change();
    const second = paused(await runner().resume(f, runner().loadCheckpoint(f, text), yes()));
    change();
    expect(second.pending.request.arguments).toEqual({ list: ["one"] });
    const again = runner().loadCheckpoint(f, runner().dumpCheckpoint(second.checkpoint));
    const state = stateOf(await runner().resume(f, again, yes()));
    expect(state).toEqual({ list: ["one"], results: ["kept"] });
    expect(seen).toEqual([["one"]]);
  });
});
