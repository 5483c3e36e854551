import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  answer,
  answerJson,
  defineInterrupt,
  flow,
  FlowRunner,
  interruptFacts,
  memoryRunLog,
  replies,
} from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { asking, Evidence, Said, text, Yes } from "../support/questions.ts";
import { keyring, paused, rejection, stateOf, waiting, world, yes } from "../support/world.ts";

describe("what an interrupt takes", () => {
  it("FLOW-22 says where an answer does not fit, and refuses one that nobody made", async () => {
    const f = asking(async (ctx) => void (await ctx.ask(Evidence, { round: 1 })));
    const { runner } = world();
    const { checkpoint, pending } = waiting(await runner().run(f, { n: 1 }));
    const refused = await rejection(runner().resume(f, checkpoint, answerJson({ text: 98_765 })));
    expect(refused.data).toMatchObject({ id: pending.id, node: "ask#1", issues: ["text"] });
    expect(refused.message).not.toContain("98765");
    for (const bad of [{ kind: "answer" }, { text: "x" }, "yes", null]) {
      const guessed = await rejection(runner().resume(f, checkpoint, bad as never));
      expect(guessed.code).toBe("answer-invalid");
    }
    const Again = defineInterrupt({ name: "Again", answer: z.any() });
    const another = await rejection(runner().resume(f, checkpoint, answer(Again, { text: "x" })));
    expect(another.message).toMatch(/asks 'Evidence', and this answers 'Again'/);
    expect(() => replies({ a: { kind: "answer" } as never })).toThrow(/never guessed/);
    expect(() => answer({ name: "Evidence" } as never, {} as never)).toThrow(/defineInterrupt/);
    const nobody = { by: { id: "dana", assurance: "none" } as never };
    expect(() => answer(Yes, true, nobody)).toThrow(/no identity port made/);
    stateOf(await runner().resume(f, checkpoint, text("x")));
  });

  it("CASE-102 gives an answer the same verdict whether a checkpoint is passed back, loaded, or named by its run", async () => {
    const Form = defineInterrupt({
      name: "Form",
      answer: z.union([z.strictObject({ a: z.string() }), z.object({ b: z.coerce.number() })]),
    });
    const f = flow("f", Said)
      .node("ask", async (_, ctx) => ({ said: [JSON.stringify(await ctx.ask(Form))] }), {
        asks: [Form],
      })
      .build();
    let runs = 0;
    const verdict = async (payload: unknown, how: "passed" | "loaded" | "named") => {
      const { runner } = world(how === "named" ? { log: memoryRunLog() } : {});
      // Runs of one id that begin in the same millisecond are one run to whoever remembers what was answered.
      const runId = `r${(runs += 1)}`;
      const { checkpoint, pending } = waiting(await runner().run(f, { n: 1 }, { runId }));
      const text = runner().dumpCheckpoint(checkpoint);
      const from = { passed: checkpoint, loaded: runner().loadCheckpoint(f, text), named: runId }[
        how
      ];
      const reply = replies({ [pending.id]: answerJson(payload) });
      return runner()
        .resume(f, from, reply)
        .then(stateOf)
        .then(
          ({ said }) => said![0]!,
          (error: { code: string }) => error.code,
        );
    };
    const payloads = [{ a: "x" }, { a: "x", extra: 1 }, { b: "5", extra: 1 }, { b: "x" }, [], null];
    for (const payload of payloads) {
      const passed = await verdict(payload, "passed");
      expect(await verdict(payload, "loaded")).toBe(passed);
      expect(await verdict(payload, "named")).toBe(passed);
    }
    expect(await verdict(payloads[1], "named")).toBe("answer-invalid");
    expect(await verdict(payloads[2], "named")).toBe('{"b":5}');
  });

  it("FLOW-22 shows what was there when it was asked, whatever the code does to it while a re-run catches up", async () => {
    const Look = defineInterrupt({ name: "look", info: z.any(), answer: z.string() });
    const { gated } = effects();
    let again = false;
    const f = flow("f", z.object({ n: z.number() }))
      .node(
        "a",
        async (_, ctx) => {
          const info = { n: 1 };
          void ctx.step("on record", () => 1);
          const called = ctx.call(gated, { n: 1 });
          const asked = again ? ctx.ask(Look, info) : undefined;
          info.n = 2;
          await called;
          await asked;
        },
        { asks: [Look] },
      )
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    again = true;
    const second = waiting(await runner().resume(f, first.checkpoint, yes()));
    expect(second.pending).toMatchObject({ kind: "interrupt", info: { n: 1 } });
  });

  it("FLOW-22 refuses a question that the node did not declare, and what does not fit, before anybody is asked", async () => {
    const Other = defineInterrupt({ name: "Evidence", answer: z.string() });
    const errors: unknown[] = [];
    const caught = async (ask: () => unknown): Promise<void> => {
      try {
        await ask();
      } catch (error) {
        errors.push((error as { code?: string }).code);
      }
    };
    const f = flow("f", Said)
      .node("bare", (_, ctx) => caught(() => ctx.ask(Yes)))
      .node(
        "ask",
        async (_, ctx) => {
          await caught(() => ctx.ask(Other));
          await caught(() => ctx.cursor(Yes));
          await caught(() => ctx.ask({ name: "Evidence" } as never));
          await caught(() => ctx.ask(Evidence, { round: "1" } as never));
          await caught(() => ctx.ask(Evidence, undefined as never));
          await caught(() => ctx.ask(Evidence, { round: 1 }, { cursor: { round: 1 } as never }));
          const odd = {
            get round(): number {
              throw new Error("no");
            },
          };
          await caught(() => ctx.ask(Evidence, odd));
          const { text } = await ctx.ask(Evidence, { round: 1 });
          return { said: [text] };
        },
        { asks: [Evidence] },
      )
      .path("bare", "ask")
      .build();
    const { runner, notices } = world();
    const { pendings, checkpoint } = waiting(await runner().run(f, { n: 1 }));
    expect(pendings).toHaveLength(1);
    expect(notices.filter(({ type }) => type === "interrupted")).toHaveLength(1);
    const wrong = Array.from({ length: 8 }, () => "interrupt-invalid");
    expect(errors).toEqual(wrong);
    const kept = runner().loadCheckpoint(f, runner().dumpCheckpoint(checkpoint));
    expect(stateOf(await runner().resume(f, kept, text("x"))).said).toEqual(["x"]);
    expect(errors).toEqual([...wrong, ...wrong.slice(1)]); // replayed, the same
  });

  it("FLOW-22 bounds info, cursor and answer at 1 MiB as sealed, or at what is set", async () => {
    const Long = (bytesMax?: number) =>
      defineInterrupt({
        name: "Long",
        info: z.string(),
        cursor: z.string(),
        answer: z.string(),
        ...(bytesMax !== undefined && { bytesMax }),
      });
    const trial = async (
      bytesMax: number | undefined,
      what: "info" | "cursor" | "answer",
      length: number,
    ) => {
      const long = Long(bytesMax);
      const value = "ä".repeat(length);
      const f = flow("f", Said)
        .node(
          "ask",
          async (_, ctx) => {
            const options = what === "cursor" ? { cursor: value } : {};
            await ctx.ask(long, what === "info" ? value : "", options);
          },
          { asks: [long] },
        )
        .build();
      const { runner } = world();
      const first = await runner().run(f, { n: 1 });
      const reply = answer(long, what === "answer" ? value : "");
      await runner().resume(f, waiting(first).checkpoint, reply);
      return "fits";
    };
    const mebi = 2 ** 20;
    for (const what of ["info", "cursor", "answer"] as const) {
      expect(await trial(undefined, what, mebi / 2 - 8)).toBe("fits");
      const code = what === "answer" ? "answer-invalid" : "node-failed";
      const long = await rejection(trial(undefined, what, mebi / 2 + 8));
      expect(long.code).toBe(code);
      expect(long.message).toMatch(/more than 1048576 bytes/);
      expect(await trial(100, what, 40)).toBe("fits");
      expect((await rejection(trial(100, what, 50))).code).toBe(code);
      expect(await trial(2 * mebi, what, mebi / 2 + 8)).toBe("fits");
    }
  });

  it("FLOW-22 FLOW-26 fails closed where state, info or cursor can't be sealed, and asks nobody", async () => {
    const Any = defineInterrupt({ name: "Any", info: z.any(), cursor: z.any(), answer: z.any() });
    const opaque = () => new (class Opaque {})();
    const Loose = z.object({ held: z.any().optional() });
    const bodies = {
      info: (state: object) => [state, opaque()],
      cursor: (state: object) => [state, 1, { cursor: opaque() }],
      state: (state: object) => [{ ...state, held: opaque() }, 1],
    };
    for (const [what, body] of Object.entries(bodies)) {
      for (const log of [undefined, memoryRunLog()]) {
        if (log !== undefined && what === "state") continue; // refused where it arises
        const [state, info, options] = body({});
        const f = flow("f", Loose)
          .node("ask", async (_, ctx) => void (await ctx.ask(Any, info, options as never)), {
            asks: [Any],
          })
          .build();
        const { runner, notices } = world(log === undefined ? {} : { log });
        const failed = await rejection(runner().run(f, state as never));
        expect(failed).toMatchObject({ code: "state-not-sealable" });
        expect(notices.map(({ type }) => type)).not.toContain("interrupted");
      }
    }
    const f = flow("f", Loose)
      .node("ask", async (_, ctx) => void (await ctx.ask(Any, 1)), { asks: [Any] })
      .build();
    const { runner } = world();
    const { checkpoint } = waiting(await runner().run(f, {}));
    const refused = await rejection(runner().resume(f, checkpoint, answer(Any, opaque())));
    expect(refused).toMatchObject({ code: "answer-invalid" });
    stateOf(await runner().resume(f, checkpoint, answer(Any, 1)));
  });

  it("FLOW-22 FLOW-51 refuses an answer where a name, a shape or who may answer changed, and spends nothing", async () => {
    const make = (asks: ReturnType<typeof defineInterrupt>) =>
      flow("f", Said)
        .node("ask", async (_, ctx) => void (await ctx.ask(asks, undefined)), { asks: [asks] })
        .build();
    const base = { name: "Q", answer: z.object({ a: z.string() }) } as const;
    const first = defineInterrupt(base);
    const { runner } = world();
    const { checkpoint } = waiting(await runner().run(make(first), { n: 1 }));
    const changed = [
      defineInterrupt({ ...base, name: "R" }),
      defineInterrupt({ ...base, answer: z.object({ a: z.number() }) }),
      defineInterrupt({ ...base, cursor: z.string() }),
      defineInterrupt({ ...base, info: z.string().optional() }),
      defineInterrupt({ ...base, answerBy: "anyone" }),
    ];
    for (const other of changed) {
      const refused = await rejection(
        runner().resume(make(other), checkpoint, answerJson({ a: "x" })),
      );
      expect(refused.code).toBe("graph-version-mismatch");
      expect(refused.data?.["differs"]).toEqual(["node:ask"]);
    }
    const same = defineInterrupt({ ...base, answer: z.object({ a: z.string().max(5) }) });
    const late = await rejection(
      runner().resume(make(same), checkpoint, answer(same, { a: "long one" })),
    );
    expect(late.code).toBe("answer-invalid");
    stateOf(await runner().resume(make(same), checkpoint, answer(same, { a: "x" })));
  });

  it("FLOW-22 gives what a form is drawn from, by the flow and the name", async () => {
    const f = asking(async () => {});
    expect(interruptFacts(f, "Evidence")).toMatchObject({ name: "Evidence", answerBy: "anyone" });
    expect(interruptFacts(f, "Nobody")).toBeUndefined();
    const form = z.toJSONSchema(interruptFacts(f, "Yes")!.answer);
    expect(form).toMatchObject({ type: "boolean" });
  });

  it("FLOW-22 FLOW-01 refuses definitions and declarations that can't work, all at once", async () => {
    const define = defineInterrupt as (spec: object) => unknown;
    const ok = { name: "Q", answer: z.string() };
    const wrong: [object, RegExp][] = [
      [{ ...ok, name: "no spaces" }, /its name/],
      [{ ...ok, answer: undefined }, /answer is no zod schema/],
      [{ ...ok, info: {} }, /info is no zod schema/],
      [{ ...ok, cursor: z.string().transform(Number) }, /cursor ends in a bare transform/],
      [{ ...ok, answerBy: "agents" }, /answerBy/],
      [{ ...ok, bytesMax: 0 }, /bytesMax/],
    ];
    for (const [spec, says] of wrong) expect(() => define(spec)).toThrow(says);
    const Q = defineInterrupt({ name: "Q", answer: z.string() });
    const Q2 = defineInterrupt({ name: "Q", answer: z.string() });
    const tool = defineTool({
      name: "t",
      description: "t",
      input: z.object({}),
      execute: () => 1,
    });
    const build = async () =>
      flow("f", Said)
        .node("a", () => {}, { asks: [Q, Q] })
        .node("b", () => {}, { asks: [Q2, { name: "Q", answerBy: "people" }] })
        .gate("c", { payload: () => 1, asks: [Q] })
        .call("d", tool, { args: {}, asks: [Q] })
        .path("a", "b", "c", "d")
        .build();
    expect((await rejection(build())).data?.["mistakes"]).toEqual([
      "'a' declares the interrupt 'Q' twice",
      "there are two interrupts 'Q'",
      "'b' declares something in asks that defineInterrupt did not make",
      "'c' is a gate node, and only code can ask what it declares in asks",
      "'d' is a call node, and only code can ask what it declares in asks",
    ]);
  });

  it("FLOW-22 FLOW-44 needs no approval port", async () => {
    const f = asking(async (ctx) => [String(await ctx.ask(Yes))]);
    const runner = new FlowRunner({ keyring });
    const { checkpoint } = waiting(await runner.run(f, { n: 1 }));
    expect(stateOf(await runner.resume(f, checkpoint, answer(Yes, true))).said).toEqual(["true"]);
  });
});
