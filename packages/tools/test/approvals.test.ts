import {
  type ApprovalPort,
  approve,
  DeferredApproval,
  deny,
  identityPort,
  memoryApprovalStore,
  memoryHome,
  unverified,
} from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  type CallOptions,
  defineTool,
  edited,
  editsOf,
  Executor,
  inputOf,
  type ToolEvent,
  ToolDeniedError,
} from "../src/index.ts";
import { handClock } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";
import { approved, decision, scriptedPort } from "./support/ports.ts";

const dana = unverified("dana");
const scope = "default";

function world(more: object = {}) {
  const ran: unknown[] = [];
  const clock = handClock();
  const refund = defineTool({
    name: "refund",
    description: "",
    input: z.object({
      cents: z.int().positive(),
      id: z.string().default(() => crypto.randomUUID()),
    }),
    confirm: ({ cents }) => cents > 100,
    execute: (args) => {
      ran.push(args);
      return `paid ${args.cents}`;
    },
    ...more,
  });
  const store = memoryApprovalStore(memoryHome({ clock }));
  const approvals = new DeferredApproval(store, { edits: editsOf([refund]) });
  const executor = new Executor({ approvals, clock });
  const records = approvals.records;
  const waiting = async (options: CallOptions, cents = 500) => {
    const result = await executor.tryCall(refund, { cents }, options);
    if (result.ok || result.approvalId === undefined) throw new Error("it did not wait");
    return result.approvalId;
  };
  return { ran, clock, refund, store, approvals, executor, records, waiting };
}

const run = { runId: "job-1" };

describe("a call outside a flow", () => {
  it("TOOL-09 runs at once where nobody has to be asked", async () => {
    const { executor, refund, ran } = world();
    expect(await executor.call(refund, { cents: 5 })).toBe("paid 5");
    expect(ran.length).toBe(1);
  });

  it("TOOL-09 throws that it waits, files one record, and runs once somebody approved", async () => {
    const { executor, refund, records, ran } = world();
    const waits = await executor.call(refund, { cents: 500 }, run).catch((error: unknown) => error);
    expect(waits).toMatchObject({ name: "ApprovalPending", code: "approval-pending" });
    const { approvalId, request } = waits as {
      approvalId: string;
      request: { argumentsDigest: string };
    };
    expect(request).toMatchObject({ tool: "refund", runId: "job-1", kind: "tool" });
    expect(Object.keys(waits as object)).not.toContain("request");
    await expect(executor.call(refund, { cents: 500 }, run)).rejects.toMatchObject({ approvalId });
    expect(await records.asked(scope, approvalId)).toBe(2);
    await records.decide({ scope, id: approvalId, decision: approve({ by: dana }) });
    expect(ran).toEqual([]);
    expect(await executor.call(refund, { cents: 500 }, run)).toBe("paid 500");
    expect(await records.read(scope, approvalId)).toMatchObject({
      state: "consumed",
      outcome: "executed",
    });
    await expect(executor.call(refund, { cents: 500 }, run)).rejects.toMatchObject({
      code: "approval-pending",
    });
    expect(ran.length).toBe(1);
  });

  it("CASE-050 TOOL-09 files one record however often a waiting call is made", async () => {
    const { executor, refund, records } = world();
    const results = [];
    for (let turn = 0; turn < 20; turn++)
      results.push(await executor.tryCall(refund, { cents: 500 }, run));
    const ids = new Set(results.map((result) => !result.ok && result.approvalId));
    expect(ids.size).toBe(1);
    expect(await records.asked(scope, [...ids][0] as string)).toBe(20);
  });

  it("TOOL-02 runs what was shown: the first draw of a random default stands", async () => {
    const { executor, refund, records, waiting, ran } = world();
    const id = await waiting(run);
    const shown = (await records.show(scope, id))?.arguments().proposed;
    await records.decide({ scope, id, decision: approve({ by: dana }) });
    await executor.call(refund, { cents: 500 }, run);
    expect(ran).toEqual([shown]);
  });

  it("TOOL-09 throws a denial with who and why, and uses it up", async () => {
    const { executor, refund, records, waiting, ran } = world();
    const id = await waiting(run);
    await records.decide({ scope, id, decision: deny({ by: dana, note: "no receipt" }) });
    const denied = await executor
      .call(refund, { cents: 500 }, run)
      .catch((error: unknown) => error);
    expect(denied).toBeInstanceOf(ToolDeniedError);
    expect(denied).toMatchObject({
      code: "approval-denied",
      attributes: { tool: "refund", approvalId: id, note: "no receipt", by: { id: "dana" } },
    });
    expect(await records.read(scope, id)).toMatchObject({ state: "consumed", outcome: "denied" });
    expect(ran).toEqual([]);
  });

  it("CASE-086 TOOL-09 denies the same call for the rest of the run at once, and asks for another", async () => {
    const { executor, refund, records, waiting } = world();
    const id = await waiting({ ...run, callId: "c1" });
    await records.decide({ scope, id, decision: deny({ by: dana, forRun: true }) });
    await expect(
      executor.call(refund, { cents: 500 }, { ...run, callId: "c1" }),
    ).rejects.toMatchObject({
      code: "approval-denied",
      attributes: { forRun: true },
    });
    await expect(
      executor.call(refund, { cents: 500 }, { ...run, callId: "c2" }),
    ).rejects.toMatchObject({
      code: "approval-denied",
      attributes: { coveredBy: id }, // the first decision
    });
    await expect(
      executor.call(refund, { cents: 501 }, { ...run, callId: "c3" }),
    ).rejects.toMatchObject({
      code: "approval-pending",
    });
  });

  it("TOOL-09 keeps scopes, runs and inputs apart", async () => {
    const { waiting } = world();
    const ids = [
      await waiting(run),
      await waiting({ runId: "job-2" }),
      await waiting({ ...run, scope: "other" }),
      await waiting(run, 600),
      await waiting({ ...run, callId: "own" }),
      await waiting({}),
      await waiting({}),
    ];
    expect(new Set(ids).size).toBe(7);
  });

  it("TOOL-08 hands the tool the caller's idempotency key, else a random one that stays", async () => {
    const keys: string[] = [];
    const tool = defineTool({
      name: "t",
      description: "",
      input: z.object({}),
      execute: (_, context) => void keys.push(context.idempotencyKey, context.idempotencyKey),
    });
    const executor = new Executor();
    await executor.call(tool, {}, { idempotencyKey: "mine" });
    await executor.call(tool, {}, run);
    await executor.call(tool, {}, run);
    expect(keys[0]).toBe("mine");
    expect(keys[2]).toBe(keys[3]);
    expect(keys[2]).not.toBe(keys[4]);
  });

  it("TOOL-09 says whose context it is", async () => {
    const seen: unknown[] = [];
    const tool = defineTool({
      name: "t",
      description: "",
      input: z.object({}),
      execute: (_, { runId, node, callId }) => void seen.push(runId, node, callId),
    });
    await new Executor().call(tool, {}, run);
    await new Executor().call(tool, {}, { ...run, callId: "mine" });
    const own = `job-1.${inputOf(tool, {}).key()}`;
    expect(seen).toEqual(["job-1", "", own, "job-1", "", "mine"]);
  });

  it("TOOL-02 takes the input at once: what the caller does to it afterwards changes nothing", async () => {
    const { executor, refund, ran } = world();
    const input = { cents: 5, id: "a" };
    const running = executor.call(refund, input);
    input.cents = 99;
    await running;
    expect(ran).toEqual([{ cents: 5, id: "a" }]);
  });
});

describe("a result", () => {
  it("TOOL-03 is plain data: it clones, and no copy or print of it has the arguments", async () => {
    const { executor, refund } = world();
    for (const cents of [5, 500]) {
      const result = await executor.tryCall(refund, { cents, id: "input-canary" }, run);
      expect(structuredClone(result)).toEqual({ ...result });
      expect(JSON.stringify(result)).not.toMatch(/input-canary/);
      expect(result.input).toEqual({ cents, id: "input-canary" });
      expect(Object.isFrozen(result)).toBe(true);
      expect(result).toMatchObject({ ok: cents === 5, tool: "refund", runId: "job-1" });
    }
  });

  it("TOOL-03 has the error of a denial, of a failure and of a wait, by class and code", async () => {
    const { refund } = world();
    const denials = { ...decision({ approved: false, note: "n" }) };
    const answers: readonly [ApprovalPort, string, string][] = [
      [
        scriptedPort({ status: "decided", decision: denials }),
        "approval-denied",
        "ToolDeniedError",
      ],
      [scriptedPort({ status: "pending" }), "approval-pending", "ApprovalPending"],
    ];
    for (const [approvals, code, name] of answers) {
      const result = await new Executor({ approvals }).tryCall(refund, { cents: 500 });
      expect(result).toMatchObject({ ok: false, error: { code, name } });
      expect("approvalId" in result).toBe(false);
    }
    expect(await new Executor().tryCall(refund, { cents: -1 })).toMatchObject({
      ok: false,
      error: {
        code: "arguments-invalid",
        attributes: { tool: "refund", issues: [{ path: "cents" }] },
      },
    });
  });
});

describe("an edit", () => {
  it("FLOW-39 runs instead of what was asked for, validated, defaults filled in", async () => {
    const { executor, refund, records, waiting, ran } = world();
    const id = await waiting(run);
    const decision = approve({ by: dana, edited: edited(refund, { cents: 50 }) });
    await records.decide({ scope, id, decision });
    expect(await executor.call(refund, { cents: 500 }, run)).toBe("paid 50");
    expect(ran).toEqual([{ cents: 50, id: expect.stringMatching(/^[\w-]{36}$/) }]);
    expect(await records.read(scope, id)).toMatchObject({ state: "consumed", outcome: "executed" });
  });

  it("CASE-068 is refused where it does not fit the schema, and spends nothing", async () => {
    const { refund, records, waiting } = world();
    const id = await waiting(run);
    for (const args of [{ cents: -5 }, { cents: "5" }, {}, 5]) {
      const decision = approve({ by: dana, edited: edited(refund, args as never) });
      await expect(records.decide({ scope, id, decision })).rejects.toMatchObject({
        code: "edits-invalid",
      });
    }
    expect(await records.read(scope, id)).toMatchObject({ state: "pending" });
  });

  it("CASE-068 is put through the rule of what it makes of the call, which asks somebody else anew", async () => {
    const identity = identityPort((name) => ({
      id: String(name),
      roles: [name === "max" ? "boss" : "clerk"],
    }));
    const rule = ({ cents }: { cents: number }) =>
      cents > 1000 ? { approvers: ["role:boss"] } : { approvers: ["role:clerk"] };
    const { executor, refund, records, waiting, ran } = world({ confirm: rule });
    const id = await waiting(run);
    const clerk = await identity.authenticate("ann");
    const more = await records.decide({
      scope,
      id,
      decision: approve({ by: clerk, edited: edited(refund, { cents: 5000, id: "x" }) }),
    });
    expect(more).toMatchObject({ status: "superseded" });
    await expect(executor.call(refund, { cents: 500 }, run)).rejects.toMatchObject({
      code: "approval-pending",
    });
    expect(ran).toEqual([]);
    const boss = await identity.authenticate("max");
    const next = (more as { by: string }).by;
    await records.decide({ scope, id: next, decision: approve({ by: boss }) });
    expect(await executor.call(refund, { cents: 500 }, run)).toBe("paid 5000");
  });

  it("CASE-068 is invalid for a tool that is not there, and for what its rule forbids", async () => {
    const { refund, records, waiting } = world({
      confirm: ({ cents }: { cents: number }) => (cents > 9000 ? { forbid: "too much" } : true),
    });
    const id = await waiting(run);
    const decision = approve({ by: dana, edited: edited(refund, { cents: 9999 }) });
    await expect(records.decide({ scope, id, decision })).rejects.toMatchObject({
      code: "edits-invalid",
    });
    const verdict = await editsOf([]).validate({
      request: { tool: "refund" },
      arguments: {},
      by: dana,
    } as never);
    expect(verdict).toEqual({ status: "invalid", issues: ["there is no tool 'refund' here"] });
  });

  it("CASE-068 gives the rule the ids of the call that waits", async () => {
    const seen: unknown[] = [];
    const { refund, records, waiting } = world({
      confirm: (
        _: unknown,
        { runId, node, callId, idempotencyKey, signal }: Record<string, unknown>,
      ) => {
        seen.push([
          runId,
          node,
          callId,
          idempotencyKey === undefined,
          (signal as AbortSignal).aborted,
        ]);
        return true;
      },
    });
    const id = await waiting(run);
    seen.length = 0;
    await records.decide({
      scope,
      id,
      decision: approve({ by: dana, edited: edited(refund, { cents: 1 }) }),
    });
    expect(seen[0]).toEqual(["job-1", "", expect.any(String), false, false]);
  });

  it("TOOL-08 changes no idempotency key and no call id", async () => {
    const seen: string[] = [];
    const tool = defineTool({
      name: "t",
      description: "",
      input: z.object({ cents: z.int() }),
      confirm: true,
      execute: (_, { idempotencyKey, callId }) => void seen.push(`${idempotencyKey} ${callId}`),
    });
    const plain = new Executor({ approvals: scriptedPort(approved()) });
    const changed = new Executor({
      approvals: scriptedPort(approved({ edited: { arguments: { cents: 7 } } })),
    });
    await plain.run(orderOf(tool, { cents: 1 }));
    const order = orderOf(tool, { cents: 1 });
    await changed.run(order);
    expect(seen[0]).toBe(seen[1]);
    expect(order.dispatched[0]?.arguments).toEqual({ cents: 7 });
  });
});

describe("using an approval up", () => {
  it("TOOL-12 lets one of many racing calls run, and tells the others", async () => {
    const { executor, refund, records, waiting, ran } = world();
    const id = await waiting(run);
    await records.decide({ scope, id, decision: approve({ by: dana }) });
    const results = await Promise.all(
      Array.from({ length: 16 }, () => executor.tryCall(refund, { cents: 500 }, run)),
    );
    expect(results.filter(({ ok }) => ok).length).toBe(1);
    const codes = new Set(results.map((result) => (result.ok ? "ok" : result.error.code)));
    expect(
      [...codes].filter((code) => !["ok", "approval-spent", "approval-pending"].includes(code)),
    ).toEqual([]);
    expect(ran.length).toBe(1);
  });

  it("TOOL-12 puts the outcome of a failed call on its record", async () => {
    const { executor, refund, records, waiting } = world({
      execute: () => {
        throw new Error("card refused");
      },
    });
    const id = await waiting(run);
    await records.decide({ scope, id, decision: approve({ by: dana }) });
    await expect(executor.call(refund, { cents: 500 }, run)).rejects.toThrow("card refused");
    expect(await records.read(scope, id)).toMatchObject({ state: "consumed", outcome: "failed" });
  });

  it("R100 TOOL-12 refuses at dispatch what the rule forbids by then; the record says that it was not used", async () => {
    let policy: unknown = true;
    const { approvals, clock, refund, records, waiting, ran } = world({ confirm: () => policy });
    const id = await waiting(run);
    await records.decide({ scope, id, decision: approve({ by: dana }) });
    const changing: ApprovalPort = {
      records,
      async request(request, how) {
        const answer = await approvals.request(request, how);
        policy = { forbid: "frozen account" };
        return answer;
      },
    };
    const executor = new Executor({ approvals: changing, clock });
    await expect(executor.call(refund, { cents: 500 }, run)).rejects.toMatchObject({
      name: "ToolDispatchError",
      code: "rule-forbids",
      message: expect.stringContaining("frozen account"),
    });
    expect(await records.read(scope, id)).toMatchObject({ state: "consumed", outcome: "unused" });
    await expect(executor.call(refund, { cents: 500 }, run)).rejects.toMatchObject({
      code: "rule-forbids",
    });
    policy = true;
    await expect(executor.call(refund, { cents: 500 }, run)).rejects.toMatchObject({
      code: "approval-pending",
    });
    expect(ran).toEqual([]);
  });

  it("CASE-064 TOOL-12 refuses an approval that a tighter rule would not have let this person give", async () => {
    let rule: object = {};
    const { executor, refund, records, waiting, ran } = world({ confirm: () => rule });
    const id = await waiting(run);
    await records.decide({ scope, id, decision: approve({ by: dana }) });
    rule = { approvers: ["role:boss"] };
    await expect(executor.call(refund, { cents: 500 }, run)).rejects.toMatchObject({
      code: "approval-insufficient",
    });
    expect(await records.read(scope, id)).toMatchObject({ state: "consumed", outcome: "unused" });
    expect(ran).toEqual([]);
  });

  it("CASE-064 TOOL-12 refuses an approval past the time it was to be used in, and withdraws it", async () => {
    const { executor, refund, records, waiting, ran, clock } = world({
      confirm: () => ({ useWithinMs: 1000 }),
    });
    const id = await waiting(run);
    await records.decide({ scope, id, decision: approve({ by: dana }) });
    await clock.move(1000);
    await expect(executor.call(refund, { cents: 500 }, run)).rejects.toMatchObject({
      name: "ToolDispatchError",
      code: "approval-stale",
      attributes: { tool: "refund", approvalId: id },
    });
    expect(await records.read(scope, id)).toMatchObject({ state: "consumed", outcome: "unused" });
    expect(ran).toEqual([]);
    const again = await waiting(run);
    expect(again).not.toBe(id);
    await records.decide({ scope, id: again, decision: approve({ by: dana }) });
    await clock.move(999);
    expect(await executor.call(refund, { cents: 500 }, run)).toBe("paid 500");
  });

  it("CASE-064 TOOL-12 withdraws an approval that revalidate refused", async () => {
    const kinds: ToolEvent[] = [];
    const { executor, refund, records, waiting } = world({
      revalidate: () => ({ code: "account-locked" }),
    });
    executor.listen((event) => void kinds.push(event));
    const id = await waiting(run);
    await records.decide({ scope, id, decision: approve({ by: dana }) });
    await expect(executor.call(refund, { cents: 500 }, run)).rejects.toMatchObject({
      code: "revalidation-refused",
      attributes: { reason: "account-locked" },
    });
    expect(await records.read(scope, id)).toMatchObject({
      state: "consumed",
      outcome: "unused",
    });
    expect(kinds.at(-1)).toMatchObject({
      kind: "failed",
      code: "revalidation-refused",
      executed: false,
    });
  });
});
