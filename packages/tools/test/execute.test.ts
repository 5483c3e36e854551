import { isSealError } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  type CallContext,
  defineTool,
  Executor,
  isToolError,
  type LedgerEntry,
  memoryLedger,
  type ToolEvent,
  ToolTimedOutError,
} from "../src/index.ts";
import { handClock, settle } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";
import { approved, scriptedPort } from "./support/ports.ts";

const input = z.object({ cents: z.int() });

function busy(retryable: boolean): Error {
  return Object.assign(new Error("busy"), { retryable });
}

describe("an attempt", () => {
  it("R122 TOOL-08 ends a promise that never settles at its time limit, and ignores what settles later", async () => {
    const clock = handClock();
    const events: ToolEvent[] = [];
    let finish: (value: number) => void = () => undefined;
    let signal: AbortSignal | undefined;
    const slow = defineTool({
      name: "slow",
      description: "",
      input,
      timeoutMs: 1000,
      execute: (_, context) => {
        signal = context.signal;
        return new Promise<number>((resolve) => (finish = resolve));
      },
    });
    const executor = new Executor({ clock, listeners: [(event) => void events.push(event)] });
    const running = executor.tryCall(slow, { cents: 1 });
    await clock.move(999);
    expect(signal?.aborted).toBe(false);
    await clock.move(1);
    const result = await running;
    expect(result).toMatchObject({
      ok: false,
      error: { code: "timed-out", name: "ToolTimedOutError" },
    });
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ name: "TimeoutError" });
    expect(clock.waiting).toBe(0);
    finish(5);
    await settle();
    expect(events.map(({ kind }) => kind)).toEqual(["started", "failed", "dropped"]);
    expect(events.at(-1)).toMatchObject({ what: "late-result", tool: "slow" });
  });

  it("TOOL-08 ignores a late rejection as it does a late result", async () => {
    const clock = handClock();
    let fail: (error: Error) => void = () => undefined;
    const slow = defineTool({
      name: "slow",
      description: "",
      input,
      timeoutMs: 10,
      execute: () => new Promise<never>((_, reject) => (fail = reject)),
    });
    const running = new Executor({ clock })
      .call(slow, { cents: 1 })
      .catch((error: unknown) => error);
    await clock.move(10);
    expect(await running).toBeInstanceOf(ToolTimedOutError);
    fail(new Error("late"));
    await settle();
  });

  it("CASE-136 TOOL-14 counts no person's time against a tool's limit", async () => {
    const clock = handClock();
    const tool = defineTool({
      name: "t",
      description: "",
      input,
      confirm: true,
      timeoutMs: 1000,
      execute: () => Promise.resolve("done"),
    });
    const approvals = scriptedPort(async () => {
      await clock.move(3_600_000);
      return approved({ at: clock.now() });
    });
    expect(await new Executor({ clock, approvals }).call(tool, { cents: 1 })).toBe("done");
  });

  it("TOOL-08 joins the caller's abort: the call ends at once, and the tool is told", async () => {
    const caller = new AbortController();
    let seen: AbortSignal | undefined;
    const make = (timeoutMs?: number) =>
      defineTool({
        name: "t",
        description: "",
        input,
        ...(timeoutMs && { timeoutMs }),
        execute: (_, context) => {
          seen = context.signal;
          return new Promise<never>(() => undefined);
        },
      });
    for (const tool of [make(), make(1000)]) {
      const own = new AbortController();
      const running = new Executor({ clock: handClock() }).run(
        orderOf(tool, { cents: 1 }, { signal: own.signal }),
      );
      await settle();
      own.abort("enough");
      expect(await running).toMatchObject({
        status: "failed",
        executed: true,
        error: { code: "cancelled" },
      });
      expect(seen?.aborted).toBe(true);
      expect(seen?.reason).toBe("enough");
    }
    caller.abort();
    const outcome = await new Executor().run(
      orderOf(make(), { cents: 1 }, { signal: caller.signal }),
    );
    expect(outcome).toMatchObject({
      status: "failed",
      executed: false,
      error: { code: "cancelled", attributes: { started: false } },
    });
  });

  it("TOOL-08 gives a signal that was looked at late all that happened before", async () => {
    const clock = handClock();
    let context: CallContext | undefined;
    const tool = defineTool({
      name: "t",
      description: "",
      input,
      timeoutMs: 5,
      execute: (_, given) => {
        context = given;
        return new Promise<never>(() => undefined);
      },
    });
    const running = new Executor({ clock }).tryCall(tool, { cents: 1 });
    await clock.move(5);
    await running;
    expect(context?.signal.reason).toMatchObject({ name: "TimeoutError" });

    const own = new AbortController();
    const aborting = defineTool({
      name: "a",
      description: "",
      input,
      timeoutMs: 5,
      execute: (_, { signal: _unused, ...rest }: CallContext & object) => Object.keys(rest).length,
    });
    expect(await new Executor().call(aborting, { cents: 1 }, { signal: own.signal })).toBe(0);
    const inside = defineTool({
      name: "i",
      description: "",
      input,
      timeoutMs: 5,
      execute: (_, given) => {
        own.abort("inside");
        return given.signal === given.signal && (given.signal.reason as unknown);
      },
    });
    expect(await new Executor().call(inside, { cents: 1 }, { signal: own.signal })).toBe("inside");
  });

  it("TOOL-08 keeps one listener on a signal, however many calls share it", async () => {
    const own = new AbortController();
    let listeners = 0;
    const add = own.signal.addEventListener.bind(own.signal);
    own.signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    const tool = defineTool({
      name: "t",
      description: "",
      input,
      execute: () => Promise.resolve(1),
    });
    const executor = new Executor();
    await Promise.all(
      Array.from({ length: 50 }, () => executor.call(tool, { cents: 1 }, { signal: own.signal })),
    );
    expect(listeners).toBe(1);
  });

  it("TOOL-02 takes values, promises, and whatever looks like one", async () => {
    const results: readonly [() => unknown, unknown][] = [
      [() => 1, 1],
      [() => undefined, undefined],
      [() => Promise.resolve(2), 2],
      // oxlint-disable-next-line unicorn/no-thenable -- that is what is tried
      [() => ({ then: (done: (value: number) => void) => done(3) }), 3],
      // oxlint-disable-next-line unicorn/no-thenable -- that is what is tried
      [() => ({ then: 4 }), { then: 4 }],
    ];
    for (const [execute, expected] of results) {
      const tool = defineTool({ name: "t", description: "", input, execute });
      expect(await new Executor().call(tool, { cents: 1 })).toEqual(expected);
    }
  });
});

describe("trying again", () => {
  function failing(times: number, retry: object, more: object = {}) {
    const keys: string[] = [];
    const tool = defineTool({
      name: "t",
      description: "",
      input,
      retry: retry as { attempts: number },
      ...more,
      execute: (_, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (keys.length <= times) throw busy(true);
        return keys.length;
      },
    });
    return { tool, keys };
  }

  it("TOOL-13 enters execute again for a failure that says so, under the same idempotency key", async () => {
    const clock = handClock();
    const { tool, keys } = failing(2, { attempts: 3, backoffMs: 100 });
    const ledger = memoryLedger();
    const running = new Executor({ clock, ledger }).call(tool, { cents: 1 });
    await clock.move(99);
    expect(keys.length).toBe(1);
    await clock.move(1);
    expect(keys.length).toBe(2);
    await clock.move(199);
    expect(keys.length).toBe(2);
    await clock.move(1);
    expect(await running).toBe(3);
    expect(new Set(keys).size).toBe(1);
    expect(ledger.entries).toMatchObject([{ attempts: 3, durationMs: 300, outcome: "ok" }]);
  });

  it("TOOL-13 gives up after its attempts, with the last failure", async () => {
    const { tool, keys } = failing(9, { attempts: 3 });
    await expect(new Executor().call(tool, { cents: 1 })).rejects.toThrow("busy");
    expect(keys.length).toBe(3);
  });

  it("TOOL-13 dispatches once, however often it tries", async () => {
    const { tool } = failing(2, { attempts: 3 });
    const order = orderOf(tool, { cents: 1 });
    expect(await new Executor().run(order)).toEqual({ status: "ok", value: 3 });
    expect(order.dispatched.length).toBe(1);
  });

  it("TOOL-13 tries nothing again that does not say so, nor what `on` refuses, nor invalid results", async () => {
    let entered = 0;
    const retry = { attempts: 3 };
    const plain = defineTool({
      name: "t",
      description: "",
      input,
      retry,
      execute: () => {
        entered += 1;
        throw busy(false);
      },
    });
    await expect(new Executor().call(plain, { cents: 1 })).rejects.toThrow("busy");
    expect(entered).toBe(1);
    const picky = failing(9, { attempts: 3, on: () => false });
    await expect(new Executor().call(picky.tool, { cents: 1 })).rejects.toThrow("busy");
    expect(picky.keys.length).toBe(1);
    const wide = failing(1, {
      attempts: 3,
      on: ({ message }: { message: string }) => message === "busy",
    });
    expect(await new Executor().call(wide.tool, { cents: 1 })).toBe(2);
    const wrong = defineTool({
      name: "t",
      description: "",
      input,
      output: z.string(),
      retry,
      execute: () => {
        entered += 1;
        return 5 as unknown as string;
      },
    });
    await expect(new Executor().call(wrong, { cents: 1 })).rejects.toMatchObject({
      code: "output-invalid",
    });
    expect(entered).toBe(2);
  });

  it.each([false, true])(
    "TOOL-13 tries a call in doubt again only if the tool is idempotent: %s",
    async (idempotent) => {
      const clock = handClock();
      let entered = 0;
      const tool = defineTool({
        name: "t",
        description: "",
        input,
        idempotent,
        timeoutMs: 10,
        retry: { attempts: 2, on: () => true },
        execute: () => {
          entered += 1;
          return entered === 1 ? new Promise<number>(() => undefined) : entered;
        },
      });
      const running = new Executor({ clock }).tryCall(tool, { cents: 1 });
      await clock.move(10);
      expect((await running).ok).toBe(idempotent);
      expect(entered).toBe(idempotent ? 2 : 1);
    },
  );

  it("TOOL-13 stops waiting when the caller gives up", async () => {
    const clock = handClock();
    const { tool, keys } = failing(9, { attempts: 3, backoffMs: 1000 });
    const own = new AbortController();
    const running = new Executor({ clock }).tryCall(tool, { cents: 1 }, { signal: own.signal });
    await settle();
    own.abort();
    expect(await running).toMatchObject({
      ok: false,
      error: { code: "cancelled", attributes: { started: true } },
    });
    expect(keys.length).toBe(1);
    expect(clock.waiting).toBe(0);

    const before = new AbortController();
    const aborting = defineTool({
      name: "a",
      description: "",
      input,
      retry: { attempts: 2, backoffMs: 5 },
      execute: () => {
        before.abort();
        throw busy(true);
      },
    });
    const stopped = new Executor({ clock }).tryCall(
      aborting,
      { cents: 1 },
      { signal: before.signal },
    );
    expect(await stopped).toMatchObject({ error: { code: "cancelled" } });
  });

  it("TOOL-13 waits a minute at most between attempts", async () => {
    const clock = handClock();
    const { tool, keys } = failing(9, { attempts: 3, backoffMs: 50_000 });
    const running = new Executor({ clock }).tryCall(tool, { cents: 1 });
    await clock.move(50_000);
    await clock.move(60_000);
    expect((await running).ok).toBe(false);
    expect(keys.length).toBe(3);
  });
});

describe("the ledger", () => {
  it("TOOL-06 has one entry for each executed call, and none for any other", async () => {
    const clock = handClock();
    const ledger = memoryLedger();
    const tool = defineTool({
      name: "pay",
      description: "",
      input,
      version: "2",
      confirm: ({ cents }) => cents > 100,
      execute: async ({ cents }) => {
        await clock.move(7);
        if (cents === 0) throw new TypeError("nothing");
        return cents;
      },
    });
    const executor = new Executor({
      clock,
      ledger,
      approvals: scriptedPort({ status: "pending" }),
    });
    const order = orderOf(tool, { cents: 1 });
    await executor.run(order);
    await executor.tryCall(tool, { cents: 0 });
    await executor.tryCall(tool, { cents: 101 });
    await executor.tryCall(tool, { cents: 0.5 });
    expect(ledger.entries).toMatchObject([
      {
        runId: "run-1",
        node: "pay#1",
        tool: "pay",
        version: "2",
        callId: order.callId(),
        idempotencyKey: order.idempotencyKey(),
        startedAt: 1_000_000,
        durationMs: 7,
        attempts: 1,
        outcome: "ok",
      },
      { outcome: "failed" },
    ] satisfies Partial<LedgerEntry>[]);
    expect(ledger.entries.length).toBe(2);
    expect(ledger.entries[0]?.argumentsDigest).toMatch(/^[\w-]{43}$/);
  });

  it("TOOL-06 has entries for calls whose input has no key, without what needs one", async () => {
    const ledger = memoryLedger(1);
    const misfit = defineTool({
      name: "m",
      description: "",
      input,
      output: z.string(),
      execute: () => 5 as unknown as string,
    });
    await new Executor({ ledger }).tryCall(misfit, { cents: 1 });
    expect(ledger.entries[0]).toMatchObject({ outcome: "output-invalid" });
    const tool = defineTool({ name: "t", description: "", input: z.any(), execute: () => 1 });
    const executor = new Executor({ ledger });
    await executor.call(tool, 1);
    await executor.call(tool, () => 1);
    expect(ledger.entries.length).toBe(1);
    expect(ledger.entries[0]).toMatchObject({
      callId: undefined,
      argumentsDigest: undefined,
      outcome: "ok",
    });
  });

  it("TOOL-06 is written before the result is handed out, and its failure fails no call", async () => {
    const seen: string[] = [];
    const kinds: string[] = [];
    const tool = defineTool({ name: "t", description: "", input, execute: () => 1 });
    const slow = {
      record: async () => {
        await settle();
        seen.push("written");
        throw new Error("disk full");
      },
    };
    const executor = new Executor({
      ledger: slow,
      listeners: [({ kind }) => void kinds.push(kind)],
    });
    expect(await executor.call(tool, { cents: 1 })).toBe(1);
    expect(seen).toEqual(["written"]);
    expect(kinds).toEqual(["started", "dropped", "finished"]);
  });
});

describe("events", () => {
  it("TOOL-07 tell each step with its ids, and no arguments", async () => {
    const events: ToolEvent[] = [];
    const clock = handClock();
    const tool = defineTool({
      name: "pay",
      description: "",
      input: z.object({ cents: z.int(), note: z.string() }),
      confirm: true,
      execute: () => "result-canary",
    });
    const approvals = scriptedPort(
      { status: "pending", approvalId: "a1" },
      { ...approved(), approvalId: "a1" },
    );
    const executor = new Executor({ approvals, clock });
    const stop = executor.listen((event) => void events.push(event));
    const arg = { cents: 1, note: "argument-canary" };
    const order = orderOf(tool, arg);
    await executor.run(order);
    await executor.run(orderOf(tool, arg));
    stop();
    await executor.run(orderOf(tool, arg));
    expect(events.map(({ kind }) => kind)).toEqual([
      "requested",
      "pending",
      "requested",
      "decided",
      "started",
      "finished",
    ]);
    for (const event of events) {
      expect(event).toMatchObject({
        tool: "pay",
        runId: "run-1",
        node: "pay#1",
        callId: order.callId(),
      });
    }
    expect(events[3]).toMatchObject({ approvalId: "a1", approved: true, edited: false });
    expect(JSON.stringify(events)).not.toMatch(/canary/);
  });

  it("TOOL-07 are disturbed by no listener, and disturb no call", async () => {
    const seen: string[] = [];
    const tool = defineTool({ name: "t", description: "", input, execute: () => 1 });
    const executor = new Executor({
      listeners: [
        () => {
          throw new Error("listener");
        },
        () => Promise.reject(new Error("later")),
        ({ kind }) => void seen.push(kind),
      ],
    });
    expect(await executor.call(tool, { cents: 1 })).toBe(1);
    expect(seen).toEqual(["started", "finished"]);
  });
});

it("TOOL-08 refuses the idempotency key of an input that can't be sealed, where it is asked for", async () => {
  const tool = defineTool({
    name: "t",
    description: "",
    input: z.any(),
    execute: (_, { idempotencyKey }) => idempotencyKey,
  });
  const outcome = await new Executor().run(orderOf(tool, () => 1));
  expect(outcome).toMatchObject({
    status: "failed",
    executed: true,
    error: { code: "state-not-sealable" },
  });
  expect(isToolError(outcome) || isSealError(outcome)).toBe(false);
});
