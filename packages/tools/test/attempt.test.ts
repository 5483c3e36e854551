import { isSealError } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  type CallContext,
  defineTool,
  Executor,
  isToolError,
  type ToolEvent,
  ToolTimedOutError,
} from "../src/index.ts";
import { handClock, settle } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";
import { approved, scriptedPort } from "./support/ports.ts";

const input = z.object({ cents: z.int() });

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
