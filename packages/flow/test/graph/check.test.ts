import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, FlowRunner, part } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { rejection, stateOf } from "../support/world.ts";

const State = z.object({
  n: z.number(),
  text: z.string().optional(),
  list: z.array(z.string()).default([]),
});

/** The mistakes that building a draft names. */
function mistakes(build: () => unknown): string[] {
  try {
    build();
    return [];
  } catch (error) {
    const { code, data, message } = error as {
      code: string;
      message: string;
      data: { mistakes: string[] };
    };
    // Each of them is in the message too.
    const told = data.mistakes.every((mistake) => message.includes(mistake));
    return code === "flow-invalid" && told ? data.mistakes : [code, message];
  }
}

/** A builder without its types: what does not compile is refused at run time too. */
// oxlint-disable-next-line typescript/no-explicit-any
const loose = (name = "f", state: z.ZodObject = State): any => flow(name, state);
const nothing = () => ({});
const { free } = effects();

describe("a flow is checked whole when it is built", () => {
  it("FLOW-01 names every mistake at once", () => {
    expect(
      mistakes(() =>
        loose("a flow!")
          .node("a", nothing)
          .node("a", nothing)
          .node("$b", nothing)
          .node("c d", nothing)
          .edge("a", "nobody")
          .route("nobody", ["a", "someone"], () => "a")
          .denied("a", "$end")
          .failed("gone", "a")
          .start("nowhere")
          .reduce("nofield", () => 1)
          .call("pay", free, { args: { n: 1 }, into: "nofield" })
          .build(),
      ),
    ).toEqual([
      "the flow's name 'a flow!' is not of A-Z a-z 0-9 _ - (64 at most)",
      "there are two nodes 'a'",
      "the node name '$b' is reserved: it begins with $",
      "the node name 'c d' is not of A-Z a-z 0-9 _ - (64 at most)",
      "an edge names 'nobody', which is no node",
      "'a' has a denied edge and is no gate",
      "a failed edge names 'gone', which is no node",
      "a route names 'nobody', which is no node",
      "the route from 'nobody' names 'someone', which is no node",
      "the start names 'nowhere', which is no node",
      "a reducer names 'nofield', which is no field of the state",
      "'pay' puts its result into 'nofield', which is no field of the state",
    ]);
  });

  it("FLOW-01 names what can't be reached, what has no way to an end, and what is there twice", () => {
    expect(mistakes(() => loose().build())).toEqual(["the flow has no node"]);
    expect(mistakes(() => loose().node("a", nothing).node("b", nothing).build())).toEqual([
      "'b' can't be reached from the start",
    ]);
    expect(
      mistakes(() =>
        loose().node("a", nothing).node("b", nothing).edge("a", "b").edge("b", "a").build(),
      ),
    ).toEqual(["'a' has no way to an end", "'b' has no way to an end"]);
    expect(
      mistakes(() =>
        loose()
          .gate("a", { payload: nothing })
          .edge("a", "$end")
          .edge("a", "$end")
          .denied("a", "$end")
          .denied("a", "a")
          .route("a", ["a", "a"], () => "a")
          .route("a", [], () => "a")
          .reduce("list", nothing)
          .reduce("list", nothing)
          .build(),
      ),
    ).toEqual([
      "there are two of the finished edge from 'a' to '$end'",
      "'a' has several denied edges, and only one could be taken",
      "the route from 'a' declares 'a' twice",
      "the route from 'a' declares no target",
      "'list' has two reducers",
    ]);
  });

  it("FLOW-01 names options that would only fail in the middle of a run", () => {
    expect(
      mistakes(() =>
        loose()
          .node("a", nothing, { maxVisits: 0, retry: { attempts: 0 }, timeoutMs: 0 })
          .gate("b", { payload: nothing, quorum: 0 })
          .call("c", free, { args: { n: () => 1 } })
          .path("a", "b", "c")
          .build(),
      ).map((mistake) => mistake.slice(0, 40)),
    ).toEqual([
      "maxVisits of 'a' is no whole number of 1",
      "retry.attempts of 'a' is no whole number",
      "timeoutMs of 'a' is not more than 0",
      expect.stringContaining("'b': "),
      expect.stringContaining("'c': "),
    ]);
  });

  it("FLOW-03 names fields that end in a bare transform, by their path", () => {
    const upper = z.string().transform((text) => text.toUpperCase());
    const Bad = z.object({
      a: upper,
      b: z.object({ c: z.array(upper) }),
      d: z.tuple([z.string()], upper),
      e: z.record(z.string(), upper),
      f: z.union([z.number(), upper]),
      g: upper.optional(),
      fine: upper.pipe(z.string()),
      codec: z.codec(z.string(), z.date(), { decode: (text) => new Date(text), encode: String }),
    });
    expect(
      mistakes(() => loose("f", Bad).node("a", nothing).build()).map((text) => text.split(" ")[0]),
    ).toEqual(["state.a", "state.b.c[]", "state.d[]", "state.e.*", "state.f", "state.g"]);
  });

  it("FLOW-01 begins at the first node, or where start says, and takes in parts", async () => {
    const ran: string[] = [];
    const note = (name: string) => () => void ran.push(name);
    const more = part(State).node("x", note("x")).node("y", note("y")).path("x", "y");
    const f = flow("f", State).node("a", note("a")).use(more).edge("y", "a").start("x").build();
    stateOf(await new FlowRunner().run(f, { n: 1 }));
    expect(ran).toEqual(["x", "y", "a"]);
    const g = flow("g", State).node("a", note("first")).build();
    stateOf(await new FlowRunner().run(g, { n: 1 }));
    expect(ran.at(-1)).toBe("first");
    expect(() => loose().use({})).toThrow(/what part\(\) began/);
    await expect(new FlowRunner().run(loose() as never, { n: 1 } as never)).rejects.toThrow(
      /no built flow/,
    );
  });

  it("FLOW-01 takes nodes and fields named as members that every object has", async () => {
    const Odd = z.object({ constructor: z.number(), toString: z.array(z.number()).default([]) });
    const f = loose("f", Odd)
      .node("constructor", (s: { constructor: number }) => ({
        constructor: s.constructor + 1,
        toString: [1],
      }))
      .reduce("toString", (a: number[], b: number[]) => [...a, ...b])
      .route("constructor", ["constructor", "$end"], (s: { constructor: number }) =>
        s.constructor < 3 ? "constructor" : "$end",
      )
      .build();
    const done = await new FlowRunner({ visitsMax: 5 }).run(
      f as never,
      { constructor: 0, toString: [] } as never,
    );
    expect(done).toMatchObject({
      status: "completed",
      state: { constructor: 3, toString: [1, 1, 1] },
    });
  });

  it("FLOW-02 refuses at run time what types refuse: unknown fields, beside right ones and in one branch, and what is no update", async () => {
    const updates: [unknown, string, string][] = [
      [{ n: 2, more: 1 }, "unknown-field", "'more'"],
      [{ constructor: 1 }, "unknown-field", "'constructor'"],
      [{ ["__proto__x"]: 1 }, "unknown-field", "__proto__x"],
      [{ n: "2" }, "update-invalid", "'n'"],
      [{ n: undefined }, "update-invalid", "'n'"],
      [[1], "update-invalid", "no update"],
      ["text", "update-invalid", "no update"],
      [new Map([["n", 2]]), "update-invalid", "no update"],
      [new Date(), "update-invalid", "no update"],
    ];
    for (const [update, code, says] of updates) {
      const f = loose()
        .node("a", async () => update)
        .build();
      const error = await rejection(new FlowRunner().run(f as never, { n: 1 } as never));
      expect(error).toMatchObject({ code: "node-failed", data: { node: "a#1" }, cause: { code } });
      expect(error.message).toContain(says);
      expect(error.message).not.toContain('"2"');
    }
    const bad = loose()
      .call("a", free, { args: { n: "one" } })
      .build();
    expect(await rejection(new FlowRunner().run(bad as never, { n: 1 } as never))).toMatchObject({
      cause: { code: "arguments-invalid" },
    });
  });

  it("FLOW-03 checks a start's input by the whole schema, and says where it does not fit", async () => {
    const Deep = z.object({ order: z.object({ id: z.string() }) });
    const f = flow("f", Deep).node("a", nothing).build();
    expect(await rejection(new FlowRunner().run(f, { order: { id: 5 } } as never))).toMatchObject({
      code: "input-invalid",
      data: { issues: ["order.id"] },
    });
    expect(
      await rejection(new FlowRunner().run(f, { order: { id: "x" } }, { runId: "no spaces" })),
    ).toMatchObject({ code: "input-invalid" });
  });

  it("FLOW-03 transforms no value twice: fields are on the output side", async () => {
    const Twice = z.object({
      shout: z
        .string()
        .transform((text) => `${text}!`)
        .pipe(z.string()),
      when: z.codec(z.iso.datetime(), z.date(), {
        decode: (text) => new Date(text),
        encode: (date) => date.toISOString(),
      }),
      flag: z.stringbool(),
      caught: z.number().catch(7),
      filled: z.string().default("filled"),
    });
    const f = flow("f", Twice)
      .node("a", (s) => ({
        shout: s.shout,
        when: s.when,
        flag: s.flag,
        caught: s.caught,
        filled: s.filled,
      }))
      .build();
    const state = stateOf(
      await new FlowRunner().run(f, {
        shout: "x",
        when: "2020-01-01T00:00:00Z",
        flag: "yes",
        caught: "?" as never,
      }),
    );
    expect(state).toEqual({
      shout: "x!",
      when: new Date("2020-01-01T00:00:00Z"),
      flag: true,
      caught: 7,
      filled: "filled",
    });
    for (const update of [{ filled: undefined }, { caught: "?" }]) {
      const wrong = loose("f", Twice)
        .node("a", () => update)
        .build();
      const input = { shout: "x", when: "2020-01-01T00:00:00Z", flag: "no", caught: 1 };
      expect(await rejection(new FlowRunner().run(wrong as never, input as never))).toMatchObject({
        cause: { code: "update-invalid" },
      });
    }
  });

  it("FLOW-03 runs the whole object's own checks on the merged state of a round", async () => {
    const Ordered = z
      .object({ low: z.number(), high: z.number() })
      .refine((s) => s.low <= s.high, "low is above high");
    const f = flow("f", Ordered)
      .node("start", () => ({}))
      .node("a", () => ({ low: 5 }))
      .node("b", (s) => ({ high: s.high + 5 }))
      .edge("start", "a")
      .edge("start", "b")
      .build();
    expect(stateOf(await new FlowRunner().run(f, { low: 0, high: 1 }))).toEqual({
      low: 5,
      high: 6,
    });
    const error = await rejection(new FlowRunner().run(f, { low: -9, high: -9 }, { runId: "r" }));
    expect(error).toMatchObject({
      code: "state-invalid",
      message: expect.stringContaining("low is above high"),
      data: { flow: "f", runId: "r" },
    });
  });

  it("FLOW-03 freezes what the library built, and never what the caller owns", async () => {
    const Deep = z.object({ items: z.array(z.object({ n: z.number() })), own: z.any() });
    const mine = { deep: { n: 1 } };
    const seen: unknown[] = [];
    const f = flow("f", Deep)
      .node("a", (s) => {
        seen.push(
          Object.isFrozen(s),
          Object.isFrozen(s.items),
          Object.isFrozen(s.items[0]),
          Object.isFrozen(s.own),
        );
        return { items: [{ n: 2 }] };
      })
      .node("b", (s) => void seen.push(Object.isFrozen(s), Object.isFrozen(s.items[0])))
      .path("a", "b")
      .build();
    const input = { items: [{ n: 1 }], own: mine };
    const state = stateOf(await new FlowRunner().run(f, input));
    expect(seen).toEqual([true, true, true, false, true, true]);
    expect(state.own).toBe(mine);
    expect(Object.isFrozen(input.items)).toBe(false);
  });
});
