import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, replies, type NodeContext } from "../../src/index.ts";
import { settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { paused, recordlessPort, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), note: z.string().optional() });
const rounds = 200;

type Ask = (n: number) => Promise<{ got: number }>;

/** Ways to get past a pause. `later` is what must never happen while somebody is waited for. */
const ways: Record<
  string,
  (ask: Ask, later: (what: string) => void, ctx: NodeContext) => Promise<void>
> = {
  "catches it": async (ask, later) => {
    try {
      await ask(1);
    } catch {
      later("catch");
    }
  },
  "returns from finally": async (ask, later) => {
    const inner = async () => {
      try {
        await ask(1);
      } finally {
        later("finally");
        // oxlint-disable-next-line no-unsafe-finally
        return;
      }
    };
    await inner();
  },
  "chains finally": async (ask, later) => {
    await ask(1).finally(() => later("finally"));
  },
  "chains then and catch": async (ask, later) => {
    await ask(1).then(
      () => later("then"),
      () => later("catch"),
    );
  },
  "loops until it gets through": async (ask, later) => {
    for (let turn = 0; turn < 10; turn++) {
      try {
        await ask(1);
        return;
      } catch {
        later(`turn ${turn}`);
      }
    }
  },
  "awaits any of several": async (ask, later) => {
    await Promise.any([ask(1), ask(2)]).catch(() => undefined);
    later("any");
  },
  "awaits all settled": async (ask, later) => {
    await Promise.allSettled([ask(1), ask(2)]);
    later("settled");
  },
  "awaits one after the other": async (ask, later) => {
    const [one, two] = [ask(1), ask(2)];
    await one;
    later("one");
    await two;
  },
  "asks in a nested callback": async (ask, later) => {
    await new Promise<void>((resolve, reject) => {
      queueMicrotask(() => {
        setImmediate(() => void ask(1).then(() => (later("nested"), resolve()), reject));
      });
    });
  },
  "asks in an async generator": async (ask, later) => {
    async function* numbers() {
      yield await ask(1);
      later("generator");
      yield await ask(2);
    }
    for await (const each of numbers()) later(String(each.got));
  },
  "asks in a sibling branch": async (ask, later) => {
    await Promise.all([ask(1).then(() => later("branch")), Promise.resolve()]);
  },
};

describe("no code of a node gets past a pause", () => {
  let unhandled: unknown[] = [];
  const keep = (reason: unknown) => void unhandled.push(reason);
  beforeAll(() => void process.on("unhandledRejection", keep));
  afterAll(() => void process.off("unhandledRejection", keep));

  for (const [name, way] of Object.entries(ways)) {
    it(`FLOW-23 R125 CASE-004 parks code that ${name}, in ${rounds} rounds`, async () => {
      unhandled = [];
      const { log, gated } = effects();
      const happened: string[] = [];
      let open = false;
      const f = flow("f", State)
        .node("a", async (_, ctx) => {
          await way(
            (n) => ctx.call(gated, { n }),
            (what) => void (open || happened.push(what)),
            ctx,
          );
          return { note: "through" };
        })
        .build();
      const { runner } = world({ approvals: recordlessPort() });
      const allow = (wait: { readonly pendings: readonly { readonly id: string }[] }) =>
        replies(Object.fromEntries(wait.pendings.map(({ id }) => [id, yes()])));
      for (let round = 0; round < rounds; round++) {
        open = false;
        log.length = 0;
        const first = paused(await runner().run(f, { n: 1 }));
        expect(happened).toEqual([]);
        expect(log).toEqual([]);
        open = true;
        let result = await runner().resume(f, first.checkpoint, allow(first));
        if (result.status === "paused")
          result = await runner().resume(f, result.checkpoint, allow(result));
        expect(stateOf(result).note).toBe("through");
      }
      await settle();
      expect(unhandled).toEqual([]);
    });
  }

  it(`FLOW-23 R125 uses no return value of code that won a race against the pause, in ${rounds} rounds`, async () => {
    unhandled = [];
    for (let round = 0; round < rounds; round++) {
      const { log, free, gated } = effects();
      const got: string[] = [];
      const f = flow("f", State)
        .node("a", async (_, ctx) => {
          await Promise.race([ctx.call(gated, { n: 1 }), settle(round % 3)]);
          void ctx.call(free, { n: 9 }).then(() => got.push("free"));
          return { note: "raced" };
        })
        .build();
      const { runner } = world({ approvals: recordlessPort() });
      const first = paused(await runner().run(f, { n: 1 }));
      await settle();
      expect(first.checkpoint.state["note"]).toBeUndefined();
      expect(got).toEqual([]);
      expect(log.filter((line) => line.startsWith("gated"))).toEqual([]);
      expect(stateOf(await runner().resume(f, first.checkpoint, yes())).note).toBe("raced");
      expect(log.filter((line) => line.startsWith("gated"))).toEqual(["gated(1)"]);
    }
    expect(unhandled).toEqual([]);
  });

  it(`FLOW-23 lets calls under way finish and be journaled, though nothing reaches the code, in ${rounds} rounds`, async () => {
    for (let round = 0; round < rounds; round++) {
      const { log, tool, gated } = effects();
      const slow = tool("slow", { run: async (n) => (await settle(2), n) });
      const reached: number[] = [];
      const f = flow("f", State)
        .node("a", async (_, ctx) => {
          const one = ctx.call(slow, { n: 5 }).then(({ got }) => void reached.push(got));
          await ctx.call(gated, { n: 1 });
          await one;
        })
        .build();
      const { runner } = world({ approvals: recordlessPort() });
      const first = paused(await runner().run(f, { n: 1 }));
      expect(log).toEqual(["slow(5)"]);
      expect(reached).toEqual([]);
      stateOf(await runner().resume(f, first.checkpoint, yes()));
      expect(log).toEqual(["slow(5)", "gated(1)"]);
      expect(reached).toEqual([5]);
    }
  });

  it(`FLOW-37 R126 never starts what is called after the node returned, and says so, in ${rounds} rounds`, async () => {
    unhandled = [];
    for (let round = 0; round < rounds; round++) {
      const { log, free, gated } = effects();
      const reached: string[] = [];
      const f = flow("f", State)
        .node("a", (_, ctx) => {
          void settle(1).then(async () => {
            await ctx.call(round % 2 ? gated : free, { n: 1 });
            reached.push("late");
          });
        })
        .build();
      const { runner, notices, count } = world();
      stateOf(await runner().run(f, { n: 1 }));
      await settle();
      expect(log).toEqual([]);
      expect(reached).toEqual([]);
      expect(await count("pending")).toBe(0);
      expect(notices.find(({ type }) => type === "call-dropped")).toMatchObject({
        visit: "a#1",
        name: round % 2 ? "gated" : "free",
      });
    }
    expect(unhandled).toEqual([]);
  });

  it(`FLOW-37 waits for floating calls begun before the node returned, which may pause its visit, in ${rounds} rounds`, async () => {
    unhandled = [];
    for (let round = 0; round < rounds; round++) {
      const { log, tool, gated } = effects();
      const fails = tool("fails", {
        run: async () => {
          await settle(1);
          throw new Error("floating");
        },
      });
      const f = flow("f", State)
        .node("a", (_, ctx) => {
          void ctx.call(fails, { n: 1 });
          void ctx.call(gated, { n: 2 });
          return { note: "returned" };
        })
        .build();
      const { runner } = world({ approvals: recordlessPort() });
      const first = paused(await runner().run(f, { n: 1 }));
      expect(log).toEqual(["fails(1)"]);
      expect(stateOf(await runner().resume(f, first.checkpoint, yes())).note).toBe("returned");
      expect(log).toEqual(["fails(1)", "gated(2)"]);
    }
    await settle();
    expect(unhandled).toEqual([]);
  });

  it("FLOW-23 lets a pause win over a throw of the same code", async () => {
    const { log, gated } = effects();
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        void ctx.call(gated, { n: 1 });
        await settle(1);
        throw new Error("too late");
      })
      .build();
    const { runner, count } = world();
    paused(await runner().run(f, { n: 1 }));
    expect(await count("pending")).toBe(1);
    expect(log).toEqual([]);
  });

  it("FLOW-23 gives back what was registered with defer at every end, last first, and aborts no signal by a pause", async () => {
    const { gated, free } = effects();
    const ends: string[] = [];
    let signal: AbortSignal | undefined;
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        signal = ctx.signal;
        ctx.defer(() => void ends.push("first"));
        ctx.defer(() => {
          throw new Error("a cleanup fails");
        });
        ctx.defer(async () => {
          await settle(1);
          ends.push("last");
        });
        await ctx.call(free, { n: s.n });
        if (s.n < 0) throw new Error("negative");
        await ctx.call(gated, { n: s.n });
      })
      .build();
    const { runner, logged } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(ends).toEqual(["last", "first"]);
    expect(signal!.aborted).toBe(false);
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(ends).toEqual(["last", "first", "last", "first"]);
    await runner()
      .run(f, { n: -1 })
      .catch(() => undefined);
    expect(ends).toHaveLength(6);
    expect(logged.filter(({ message }) => message.includes("cleanup"))).toHaveLength(3);
  });

  it("FLOW-23 lets parked code be collected", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const { gated } = effects();
    const { runner } = world({ approvals: recordlessPort() });
    const held: WeakRef<object>[] = [];
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        const buffer = { bytes: new Uint8Array(1024) };
        held.push(new WeakRef(buffer));
        await ctx.call(gated, { n: 1 });
        return { note: String(buffer.bytes.length) };
      })
      .build();
    const results = [];
    for (let round = 0; round < 20; round++) results.push(paused(await runner().run(f, { n: 1 })));
    for (let turn = 0; turn < 10 && held.some((ref) => ref.deref()); turn++) {
      await settle();
      collect();
    }
    expect(held.filter((ref) => ref.deref() !== undefined)).toHaveLength(0);
    expect(results).toHaveLength(20);
  });
});
