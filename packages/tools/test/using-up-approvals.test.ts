import {
  type ApprovalRecords,
  type CommitOutcome,
  DeferredApproval,
  memoryApprovalStore,
  type SettlePlan,
} from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { type CallOrder, defineTool, Executor, type ToolEvent } from "../src/index.ts";
import { handClock } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";
import { approved, decision, scriptedPort } from "./support/ports.ts";
import { input } from "./support/traced-call.ts";

const withoutDispatch = { dispatch: undefined } as object;

describe("using up an approval by itself", () => {
  it("CASE-056 runs nothing on an approval that was never asked for, and tells that it failed", async () => {
    const ran: number[] = [];
    const events: ToolEvent[] = [];
    const tool = defineTool({
      name: "pay",
      description: "",
      input,
      confirm: true,
      execute: () => ran.push(1),
    });
    const approvals = new DeferredApproval(memoryApprovalStore());
    const executor = new Executor({ approvals, listeners: [(event) => void events.push(event)] });
    const recorded = {
      arguments: { cents: 1, id: "x" },
      gated: true,
      approvalId: "made-up",
      decision: decision({ at: Date.now() }),
    };
    const order: CallOrder = Object.assign(
      orderOf(tool, { cents: 1 }, { recorded }),
      withoutDispatch,
    );
    expect(await executor.run(order)).toMatchObject({ error: { code: "approval-not-found" } });
    expect(ran).toEqual([]);
    expect(events).toMatchObject([{ kind: "failed", code: "approval-not-found" }]);
  });

  const done: CommitOutcome = { status: "done", repeated: false };
  const unknown: CommitOutcome = { status: "unknown", cause: 1 };
  const refused: CommitOutcome = {
    status: "refused",
    write: 0,
    refusal: { because: "late", now: 1 },
  };
  const ready: SettlePlan = { status: "ready", decision: decision(), writes: [] };

  function scripted(
    plans: readonly SettlePlan[],
    commits: readonly (CommitOutcome | Error)[],
    then?: "abort",
  ) {
    const own = new AbortController();
    const log: string[] = [];
    const attempts: string[] = [];
    let plan = 0;
    let commit = 0;
    const records: ApprovalRecords = {
      store: {
        home: {},
        now: async () => 1_000_000,
        async commit(attemptId) {
          attempts.push(attemptId);
          if (then === "abort") own.abort();
          const answer = commits[Math.min(commit++, commits.length - 1)]!;
          log.push(answer instanceof Error ? "throws" : answer.status);
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
      read: async () => undefined,
      async settle({ argumentsDigest }) {
        log.push(`settle ${argumentsDigest.length}`);
        return plans[Math.min(plan++, plans.length - 1)]!;
      },
      async withdraw({ reason }) {
        log.push(`withdraw ${reason}`);
        return [];
      },
      async conclude({ outcome }) {
        log.push(`conclude ${outcome}`);
        return [];
      },
    };
    const port = { ...scriptedPort({ ...approved(), approvalId: "a1" }), records };
    const events: ToolEvent[] = [];
    const ran: number[] = [];
    const tool = defineTool({
      name: "pay",
      description: "",
      input,
      confirm: true,
      execute: () => ran.push(1),
    });
    const executor = new Executor({
      approvals: port,
      clock: handClock(),
      listeners: [(event) => void events.push(event)],
    });
    const call = () => executor.tryCall(tool, { cents: 1, id: "x" }, { signal: own.signal });
    return {
      log,
      attempts,
      signal: own.signal,
      call,
      ran,
      dropped: () => events.filter(({ kind }) => kind === "dropped"),
    };
  }

  it("TOOL-12 settles before it runs, and concludes afterwards", async () => {
    const { call, log, attempts, ran } = scripted([ready], [done]);
    expect((await call()).ok).toBe(true);
    expect(log).toEqual(["settle 43", "done", "conclude executed", "done"]);
    expect(new Set(attempts).size).toBe(2);
    expect(ran).toEqual([1]);
  });

  it("APR-21 concludes an approval that was used up and not run, after all, as unused", async () => {
    const { log, signal, call, ran } = scripted([ready], [done], "abort");
    expect(await call()).toMatchObject({ ok: false, error: { code: "cancelled" } });
    expect(signal.aborted).toBe(true);
    expect(log).toEqual(["settle 43", "done", "conclude unused", "done"]);
    expect(ran).toEqual([]);
  });

  it("APR-26 asks again under the same attempt where an answer was lost, and runs only when it knows", async () => {
    const { call, attempts, ran } = scripted([ready], [unknown, unknown, done]);
    expect((await call()).ok).toBe(true);
    expect(new Set(attempts.slice(0, 3)).size).toBe(1);
    expect(ran).toEqual([1]);
    const lost = scripted([ready], [unknown]);
    expect(await lost.call()).toMatchObject({ ok: false, error: { code: "approval-unknown" } });
    expect(lost.attempts.length).toBe(5);
    expect(lost.ran).toEqual([]);
  });

  it("APR-20 plans anew where something else stood, up to a bound", async () => {
    const { call, log } = scripted([ready], [refused, done]);
    expect((await call()).ok).toBe(true);
    expect(log.slice(0, 4)).toEqual(["settle 43", "refused", "settle 43", "done"]);
    const endless = scripted([ready], [refused]);
    expect(await endless.call()).toMatchObject({ error: { code: "approval-unknown" } });
    expect(endless.log.length).toBe(10);
    expect(endless.ran).toEqual([]);
  });

  it("APR-20 runs nothing on an approval that another attempt has used, or that is not there", async () => {
    const mine = scripted([{ status: "stands", decision: decision(), mine: true }], [done]);
    expect((await mine.call()).ok).toBe(true);
    for (const [code, plan] of [
      ["approval-spent", { status: "stands", decision: decision(), mine: false }],
      ["approval-undecided", { status: "pending" }],
      ["approval-not-found", { status: "missing" }],
      ["approval-undecided", { status: "open", missing: 1, writes: [] }],
    ] as const) {
      const { call, ran } = scripted([plan], [done]);
      expect(await call()).toMatchObject({
        ok: false,
        error: { code, attributes: { approvalId: "a1" } },
      });
      expect(ran).toEqual([]);
    }
  });

  it("APR-21 keeps a result whose outcome no store took, and says so", async () => {
    for (const end of [unknown, refused, new Error("away")]) {
      const { call, dropped } = scripted([ready], [done, end]);
      expect((await call()).ok).toBe(true);
      expect(dropped()).toMatchObject([{ what: "approval-outcome" }]);
    }
  });

  it("TOOL-12 fails a call whose store is away before it ran", async () => {
    const { call, ran } = scripted([ready], [new Error("away")]);
    expect(await call()).toMatchObject({ ok: false, error: { message: "away" } });
    expect(ran).toEqual([]);
  });
});
