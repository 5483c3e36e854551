import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineTool, Executor, memoryLedger } from "../src/index.ts";
import { handClock, settle } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";

const input = z.object({ cents: z.int() });

function busy(retryable: boolean): Error {
  return Object.assign(new Error("busy"), { retryable });
}

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
