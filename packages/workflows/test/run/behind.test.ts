import { approve, flow } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow, Workflows, type WorkflowStore } from "../../src/index.ts";
import { faultyStores } from "../faulty-stores.ts";
import { countingIds, dana, keyring, world } from "../world.ts";

const twice = defineWorkflow({
  name: "twice",
  version: "1",
  input: z.object({ order: z.string() }),
  flow: flow("twice", z.object({ order: z.string() }))
    .gate("first", { payload: ({ order }) => ({ order }) })
    .gate("second", { payload: ({ order }) => ({ order }) })
    .path("first", "second")
    .build(),
});

/** Carries a run on until nothing waits that this desk knows of. */
async function carryOn(desk: Workflows, runId: string): Promise<void> {
  for (let look = 0; look < 4; look += 1) {
    const { waitsFor } = await desk.settled(runId);
    for (const { id } of waitsFor) await desk.decide(id, approve({ by: dana }));
  }
}

describe("a registry of its own that a process left behind its log", () => {
  const cases = (["die-before", "fail"] as const).flatMap((kind) =>
    Array.from({ length: 14 }, (_, at) => ({ kind, at: at + 1 })),
  );

  it.each(cases)("WF-21 says what the run waits for, after $kind at write $at", async (how) => {
    const { homes, clock, store } = world("apart");
    let processes = 0;
    const open = (over: WorkflowStore): Workflows =>
      new Workflows({
        store: over,
        definitions: [twice],
        keyring,
        clock,
        ids: countingIds(`${how.kind}${how.at}p${(processes += 1)}`),
      }) as Workflows;
    const faulty = faultyStores(homes, how.at, how.kind);
    const first = open(faulty.store);
    const input = [{ order: "A-17" }, { key: "request-1" }] as const;
    const working = async (): Promise<void> => {
      const { runId } = await first.start("twice", ...input);
      await carryOn(first, runId);
    };
    await Promise.race([faulty.died, working().catch(() => first.waitIdle())]);
    const next = open(store);
    await next.adoptAll();
    await next.waitIdle();
    const { runId } = await next.start("twice", ...input);
    await carryOn(next, runId);
    expect((await next.get(runId))?.status).toBe("completed");
  });
});
