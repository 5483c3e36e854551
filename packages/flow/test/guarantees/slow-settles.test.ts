import {
  DeferredApproval,
  memoryApprovalStore,
  memoryHome,
  type ApprovalPort,
  type ApprovalStore,
  type Decision,
} from "@holdpoint/approvals";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, type FlowRunnerOptions } from "../../src/index.ts";
import { handClock, settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { State } from "../support/one-call.ts";
import { keyring, no, rejection, stateOf, world, yes } from "../support/world.ts";

/** A store whose first spending commit is held until it is let go; a second one lets it go first. */
function slowStore(inner: ApprovalStore) {
  let letGo = (): void => {};
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  let first: Promise<unknown> | undefined;
  const store = Object.assign(Object.create(inner) as ApprovalStore, {
    async commit(...how: Parameters<ApprovalStore["commit"]>) {
      const spends = how[1].some(
        ({ values }) => values["state"] === "consumed" && values["runId"] === "r",
      );
      if (!spends) return inner.commit(...how);
      if (first === undefined) {
        const held = gone.then(() => inner.commit(...how));
        first = held;
        return held;
      }
      letGo();
      await first;
      return inner.commit(...how);
    },
  });
  return { store, letGo: () => letGo() };
}

/** A port whose person answers each new question at once, on record. */
function answering(
  store: ApprovalStore,
  answer: () => Decision = yes,
): ApprovalPort & { records: DeferredApproval["records"] } {
  const port = new DeferredApproval(store, { keyring });
  return {
    records: port.records,
    async request(request, how) {
      const said = await port.request(request, how);
      if (said.status !== "pending") return said;
      const { approvalId: id } = said;
      await port.records.decide({ scope: "default", id: id!, decision: answer() });
      return port.request(request, how);
    },
  };
}

type Kind = "portable" | "durable, two homes" | "durable, one home";
const kinds: readonly Kind[] = ["portable", "durable, two homes", "durable, one home"];

/** A run whose node may take a second, over a store whose settle takes longer. */
function slowWorld(kind: Kind, answer: () => Decision = yes) {
  const home = memoryHome();
  const { store, letGo } = slowStore(memoryApprovalStore(home));
  const clock = handClock();
  const options: FlowRunnerOptions = { approvals: answering(store, answer), clock };
  // What shares a home commits through the log's.
  const log =
    kind === "portable"
      ? undefined
      : kind === "durable, one home"
        ? Object.assign(memoryRunLog(home), { commit: store.commit })
        : memoryRunLog();
  const made = world({ store, ...options, ...(log !== undefined && { log }) });
  const late = async (): Promise<void> => {
    await clock.move(1_000);
    letGo();
    await settle();
  };
  return { ...made, late };
}

const slow = { timeoutMs: 1_000 };
const again = { ...slow, retry: { attempts: 2, on: () => true } };

describe("a settle that is slower than its node's time limit", () => {
  for (const kind of kinds) {
    it(`APR-21 FLOW-12 FLOW-35 allows the same call of the retry, which pays once (${kind})`, async () => {
      const { log, gated } = effects();
      const f = flow("f", State)
        .call("a", gated, { args: ({ n }) => ({ n }), into: ({ got }) => ({ sum: got }), ...again })
        .build();
      const { runner, late, outcomes, notices } = slowWorld(kind);
      const run = runner().run(f, { n: 1 }, { runId: "r" });
      await late();
      expect(stateOf(await run).sum).toBe(10);
      expect(log).toEqual(["gated(1)"]);
      expect(await outcomes()).toEqual(["executed"]);
      expect(notices.filter(({ type }) => type === "retried")).toHaveLength(1);
    });

    it(`APR-21 FLOW-35 runs what was shown, whatever the retry would draw (${kind})`, async () => {
      let drawn = 0;
      const ran: number[] = [];
      const draws = defineTool({
        name: "draws",
        description: "takes a number that is drawn",
        input: z.object({ at: z.number().default(() => (drawn += 1)) }),
        confirm: true,
        execute: ({ at }) => ran.push(at),
      });
      const f = flow("f", State)
        .node("a", async (_, ctx) => ({ sum: Number(await ctx.call(draws, {})) }), again)
        .build();
      const { runner, late, outcomes } = slowWorld(kind);
      const run = runner().run(f, { n: 1 }, { runId: "r" });
      await late();
      stateOf(await run);
      expect(ran).toEqual([1]);
      expect(await outcomes()).toEqual(["executed"]);
    });

    it(`APR-21 is unused where there is no retry, and nothing runs (${kind})`, async () => {
      const { log, gated } = effects();
      const f = flow("f", State)
        .call("a", gated, { args: ({ n }) => ({ n }), ...slow })
        .build();
      const { runner, late, outcomes } = slowWorld(kind);
      const run = rejection(runner().run(f, { n: 1 }, { runId: "r" }));
      await late();
      expect(JSON.stringify((await run).data)).toContain("timed-out");
      expect(log).toEqual([]);
      expect(await outcomes()).toEqual(["unused"]);
    });

    it(`APR-21 is unused where the retry makes another call (${kind})`, async () => {
      const { log, gated, free } = effects();
      let attempts = 0;
      const f = flow("f", State)
        .node(
          "a",
          async (_, ctx) => void (await ctx.call((attempts += 1) === 1 ? gated : free, { n: 1 })),
          again,
        )
        .build();
      const { runner, late, outcomes } = slowWorld(kind);
      const run = runner().run(f, { n: 1 }, { runId: "r" });
      await late();
      stateOf(await run);
      expect(log).toEqual(["free(1)"]);
      expect(await outcomes()).toEqual(["unused"]);
    });

    it(`APR-21 FLOW-34 allows the call within a nested run, or is unused with it (${kind})`, async () => {
      for (const options of [again, slow]) {
        const { log, gated } = effects();
        const inner = flow("inner", State)
          .call("pays", gated, { args: ({ n }) => ({ n }), into: ({ got }) => ({ sum: got }) })
          .build();
        const f = flow("f", State)
          .node("a", async ({ n }, ctx) => ({ sum: (await ctx.run(inner, { n })).sum }), {
            ...options,
            runs: [inner],
          })
          .build();
        const { runner, late, outcomes } = slowWorld(kind);
        const run = runner().run(f, { n: 1 }, { runId: "r" });
        const ended = options === again ? run : rejection(run);
        await late();
        await ended;
        expect(log).toEqual(options === again ? ["gated(1)"] : []);
        expect(await outcomes()).toEqual([options === again ? "executed" : "unused"]);
      }
    });

    it(`APR-21 FLOW-36 denies the retry's call by the denial that was spent (${kind})`, async () => {
      const { log, gated } = effects();
      const f = flow("f", State)
        .node(
          "a",
          async ({ n }, ctx) => {
            const denied = await ctx.call(gated, { n }).catch((error: unknown) => error);
            return { sum: (denied as { code?: string }).code === "approval-denied" ? -1 : 1 };
          },
          again,
        )
        .build();
      const { runner, late, outcomes } = slowWorld(kind, no);
      const run = runner().run(f, { n: 1 }, { runId: "r" });
      await late();
      expect(stateOf(await run).sum).toBe(-1);
      expect(log).toEqual([]);
      expect(await outcomes()).toEqual(["denied"]);
    });
  }

  for (const kind of kinds.slice(1)) {
    it(`APR-21 FLOW-76 is kept for whoever takes up a run that was aborted meanwhile (${kind})`, async () => {
      const { log, gated } = effects();
      const f = flow("f", State)
        .call("a", gated, { args: ({ n }) => ({ n }), into: ({ got }) => ({ sum: got }) })
        .build();
      const { runner, late, outcomes } = slowWorld(kind);
      const { signal, abort } = aborting();
      const run = rejection(runner().run(f, { n: 1 }, { runId: "r", signal }));
      await settle();
      abort();
      await late();
      expect(await run).toMatchObject({ code: "aborted" });
      expect(log).toEqual([]);
      expect(stateOf(await runner().adopt(f, "r")).sum).toBe(10);
      expect(log).toEqual(["gated(1)"]);
      expect(await outcomes()).toEqual(["executed"]);
    });
  }
});

function aborting() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
