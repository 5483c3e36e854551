import { model } from "@holdpoint/seal/zod";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  answer,
  answerJson,
  defineInterrupt,
  flow,
  memoryRunLog,
  replies,
} from "../../src/index.ts";
import { breakingStore } from "../support/breaking-store.ts";
import { settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { asking, Evidence, Said, text, Yes } from "../support/questions.ts";
import {
  asAnotherProcess,
  dana,
  rejection,
  stateOf,
  waiting,
  world,
  yes,
} from "../support/world.ts";

class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
}
const money = model(Money, { name: "Money", fields: z.object({ cents: z.int() }) });

describe("an interrupt", () => {
  for (const durable of [false, true]) {
    const mode = durable ? "durable" : "portable";
    it(`FLOW-22 gives the n-th question of a name the n-th answer, over loads and other processes: ${mode}`, async () => {
      const { log, free } = effects();
      const f = asking(async (ctx) => {
        const said: string[] = [];
        for (let round = 0; round < 3; round++) {
          await ctx.call(free, { n: round });
          const { text } = await ctx.ask(Evidence, { round });
          said.push(text);
        }
        said.push(String(await ctx.ask(Yes)));
        return said;
      });
      const { runner } = world(durable ? { log: memoryRunLog() } : {});
      let result = await runner().run(f, { n: 1 }, { runId: "r" });
      for (let round = 0; round < 3; round++) {
        const { pending, pendings, checkpoint } = waiting(result);
        expect(pendings).toHaveLength(1);
        expect(pending).toMatchObject({ kind: "interrupt", path: "ask#1", tool: "ask:Evidence" });
        if (pending.kind !== "interrupt") throw new Error("no interrupt");
        expect(pending.name).toBe("Evidence");
        expect(pending.answerBy).toBe("anyone");
        expect(pending.info).toEqual({ round });
        const kept = runner().loadCheckpoint(f, runner().dumpCheckpoint(checkpoint));
        asAnotherProcess();
        result = await runner().resume(f, kept, text(`answer ${round}`));
      }
      const last = waiting(result);
      expect(last.pending).toMatchObject({ kind: "interrupt", name: "Yes", answerBy: "people" });
      const done = await runner().resume(f, last.checkpoint, answerJson(true, { by: dana }));
      expect(stateOf(done).said).toEqual(["answer 0", "answer 1", "answer 2", "true"]);
      expect(log).toEqual(["free(0)", "free(1)", "free(2)"]);
    });

    it(`CASE-002 asks in a loop and needs just as many resumes; the tool before each question runs once: ${mode}`, async () => {
      const { log, free } = effects();
      const f = asking(async (ctx) => {
        for (let i = 0; i < 3; i++) {
          await ctx.call(free, { n: i });
          await ctx.ask(Yes);
        }
      });
      const { runner } = world(durable ? { log: memoryRunLog() } : {});
      let result = await runner().run(f, { n: 1 });
      for (let resumes = 0; resumes < 3; resumes++)
        result = await runner().resume(f, waiting(result).checkpoint, answer(Yes, true));
      expect(result.status).toBe("completed");
      expect(log).toEqual(["free(0)", "free(1)", "free(2)"]);
      const paused = waiting(await runner().run(f, { n: 1 }));
      let last = paused;
      for (let resumes = 0; resumes < 2; resumes++)
        last = waiting(await runner().resume(f, last.checkpoint, answer(Yes, true)));
      stateOf(await runner().resume(f, last.checkpoint, answer(Yes, true)));
      const fourth = await rejection(runner().resume(f, last.checkpoint, answer(Yes, true)));
      expect(fourth.code).toBe(durable ? "resume-terminal" : "approval-already-decided");
    });

    it(`CASE-008 FLOW-54 takes one answer to a question, and refuses another for the same checkpoint: ${mode}`, async () => {
      const ran: string[] = [];
      const f = asking(async (ctx) => {
        const { text } = await ctx.ask(Evidence, { round: 1 });
        ran.push(text);
        await ctx.ask(Yes);
      });
      const { runner } = world(durable ? { log: memoryRunLog() } : {});
      const first = waiting(await runner().run(f, { n: 1 }));
      const second = waiting(await runner().resume(f, first.checkpoint, text("yes")));
      if (durable) asAnotherProcess();
      const refused = await rejection(runner().resume(f, first.checkpoint, text("no")));
      expect(refused).toMatchObject({ name: "ApprovalAlreadyDecided" });
      expect(refused.code).toBe("approval-already-decided");
      expect(refused.message).toMatch(/is answered already/);
      expect(ran).toEqual(["yes"]);
      stateOf(await runner().resume(f, second.checkpoint, answer(Yes, true)));
      expect(ran).toEqual(["yes", "yes"]);
    });
  }

  it("FLOW-22 FLOW-54 two racing answers to one portable checkpoint: one goes on, the other is refused", async () => {
    const f = asking(async (ctx) => [(await ctx.ask(Evidence, { round: 1 })).text]);
    const { runner } = world();
    const { checkpoint } = waiting(await runner().run(f, { n: 1 }));
    const both = await Promise.allSettled([
      runner().resume(f, checkpoint, text("a")),
      runner().resume(f, checkpoint, text("b")),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("FLOW-22 FLOW-61 reads an answer by its schema before anything is spent, and gives the code what was read", async () => {
    const { log, gated } = effects();
    const made: unknown[] = [];
    const f = asking(async (ctx) => {
      const call = ctx.call(gated, { n: 1 });
      const got = await ctx.ask(Evidence, { round: 1 });
      made.push(got.at);
      await call;
      return [got.text];
    });
    const { runner, count } = world();
    const { pendings, checkpoint } = waiting(await runner().run(f, { n: 1 }));
    const [call, question] = pendings.map(({ id }) => id) as [string, string];
    const wrong = [
      answer(Evidence, { text: "" }),
      answerJson({ text: 5 }),
      answerJson({}),
      answerJson(undefined),
      answerJson({ text: "x", at: "never" }),
      answer(Yes, true),
      yes(),
    ];
    for (const reply of wrong) {
      const refused = await rejection(
        runner().resume(f, checkpoint, replies({ [call]: yes(), [question]: reply })),
      );
      expect(refused.code).toBe("answer-invalid");
      expect(await count("pending")).toBe(1);
    }
    for (const reply of [answer(Yes, true), answerJson({ text: "x" })]) {
      const refused = await rejection(
        runner().resume(f, checkpoint, replies({ [call]: reply, [question]: text("x") })),
      );
      expect(refused.code).toBe("answer-invalid");
    }
    expect(log).toEqual([]);
    const both = replies({
      [question]: answerJson({ text: "found", at: "2026-11-30T00:00:00Z" }),
      [call]: yes(),
    });
    const done = await runner().resume(f, checkpoint, both);
    expect(stateOf(done).said).toEqual(["found"]);
    expect(made).toEqual([new Date("2026-11-30T00:00:00Z")]);
    expect(log).toEqual(["gated(1)"]);
    expect(await count("consumed")).toBe(1);
  });

  it("FLOW-22 FLOW-30 answers questions and approvals in any mixture and order, each once", async () => {
    const { log, gated } = effects();
    const f = asking(async (ctx) => {
      const all = await Promise.all([
        ctx.ask(Evidence, { round: 0 }).then(({ text }) => text),
        ctx.call(gated, { n: 1 }).then(({ got }) => String(got)),
        ctx.ask(Evidence, { round: 1 }).then(({ text }) => text),
        ctx.ask(Yes).then(String),
      ]);
      return all;
    });
    const reply = (tool: string, at: number) =>
      tool === "gated" ? yes() : tool === "ask:Yes" ? answer(Yes, false) : text(`answer ${at}`);
    for (let chosen = 1; chosen < 16; chosen++) {
      log.length = 0;
      const { runner, notices } = world(chosen % 2 === 0 ? { log: memoryRunLog() } : {});
      let result = await runner().run(f, { n: 1 }, { runId: "r" });
      const { pendings } = waiting(result);
      expect(pendings.map(({ tool }) => tool)).toEqual([
        "ask:Evidence",
        "gated",
        "ask:Evidence",
        "ask:Yes",
      ]);
      const parts = [0, 1].map((wanted) =>
        Object.fromEntries(
          pendings.flatMap(({ id, tool }, at) =>
            ((chosen >> at) & 1) === wanted ? [] : [[id, reply(tool, at)]],
          ),
        ),
      );
      for (const part of parts.filter((some) => Object.keys(some).length > 0))
        result = await runner().resume(f, waiting(result).checkpoint, replies(part));
      expect(stateOf(result).said).toEqual(["answer 0", "10", "answer 2", "false"]);
      expect(notices.filter(({ type }) => type === "interrupted")).toHaveLength(3);
      expect(log).toEqual(["gated(1)"]);
    }
  });

  it("FLOW-22 takes info and cursor when the question is asked: later changes are not shown", async () => {
    const f = asking(async (ctx) => {
      await ctx.ask(Yes);
      const info = { round: 1 };
      const asked = ctx.ask(Evidence, info); // begins once all that is replayed has been delivered
      info.round = 2;
      await asked;
    });
    const { runner } = world();
    const first = waiting(await runner().run(f, { n: 1 }));
    const { pending } = waiting(await runner().resume(f, first.checkpoint, answer(Yes, true)));
    expect(pending.kind === "interrupt" && pending.info).toEqual({ round: 1 });
  });

  it("FLOW-22 FLOW-08 shows info in the live result, and in no event, printed form or clone", async () => {
    const f = asking(async (ctx) => {
      const cursor = { round: 1, said: ["secret-cursor"] };
      await ctx.ask(Evidence, { round: 77_001 }, { cursor });
    });
    const { runner, notices } = world({ log: memoryRunLog() });
    const result = await runner().run(f, { n: 1 }, { runId: "r" });
    const { pending, checkpoint } = waiting(result);
    if (pending.kind !== "interrupt") throw new Error("no interrupt");
    expect(pending.info).toEqual({ round: 77_001 });
    const secret = /77001|secret-/;
    expect(JSON.stringify([pending, checkpoint])).not.toMatch(secret);
    expect(inspect([pending, result], { depth: 9 })).not.toMatch(secret);
    expect("info" in structuredClone(pending)).toBe(false);
    const payload = text("secret-answer");
    expect(inspect(payload, { showHidden: true }) + JSON.stringify(payload)).not.toMatch(secret);
    stateOf(await runner().resume(f, checkpoint, payload));
    expect(JSON.stringify(notices)).not.toMatch(secret);
    const told = notices.find(({ type }) => type === "interrupted");
    expect(told).toMatchObject({ visit: "ask#1", name: "ask:Evidence", ids: [pending.id] });
  });

  it("FLOW-22 an answer is in the log before the code runs: a crash after it loses nothing", async () => {
    const log = memoryRunLog();
    let crashes = true;
    const f = asking(async (ctx) => {
      const { text } = await ctx.ask(Evidence, { round: 1 });
      if (crashes) await new Promise(() => {});
      return [text];
    });
    const { runner } = world({ log });
    const { pending } = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
    const stop = new AbortController();
    const reply = replies({ [pending.id]: answer(Evidence, { text: "kept" }, { by: dana }) });
    const dying = rejection(runner().resume(f, "r", reply, { signal: stop.signal }));
    await settle();
    stop.abort();
    expect((await dying).code).toBe("aborted");
    crashes = false;
    const history = await runner().history(f, "r");
    const answered = history.find((event) => event.type === "answered");
    expect(answered).toMatchObject({ answers: [{ kind: "interrupt", by: { id: "dana" } }] });
    expect(stateOf(await runner().adopt(f, "r")).said).toEqual(["kept"]);
  });

  it("FLOW-22 answers together with an approval of another database: all of it after a crash, or none", async () => {
    for (const trouble of ["down", "lost"] as const) {
      const { log, gated } = effects();
      const f = asking(async (ctx) => {
        const call = ctx.call(gated, { n: 1 });
        const { text } = await ctx.ask(Evidence, { round: 1 });
        await call;
        return [text];
      });
      const store = breakingStore();
      const { runner } = world({ log: memoryRunLog(), store });
      const first = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
      const [call, question] = first.pendings.map(({ id }) => id) as [string, string];
      const both = replies({ [call]: yes(), [question]: text("kept") });
      store.fail(trouble, trouble, trouble, trouble, trouble);
      expect((await rejection(runner().resume(f, "r", both))).code).toBe("store-unavailable");
      store.reset();
      const adopted = await runner().adopt(f, "r");
      const left = adopted.status === "paused" ? adopted.pendings.map(({ id }) => id) : [];
      expect(left).toEqual(trouble === "down" ? [call, question] : []);
      const done = trouble === "down" ? await runner().resume(f, "r", both) : adopted;
      expect(stateOf(done).said).toEqual(["kept"]);
      expect(log).toEqual(["gated(1)"]);
    }
  });

  it("FLOW-22 FLOW-71 builds the classes that its own schemas reach, after a load too", async () => {
    const Mine = defineInterrupt({ name: "Mine", info: money.schema, answer: money.schema });
    const f = flow("f", Said)
      .node(
        "ask",
        async (_, ctx) => ({ said: [`${(await ctx.ask(Mine, new Money(5))).cents + 1}`] }),
        { asks: [Mine] },
      )
      .build();
    const { runner } = world({ models: [money] });
    const first = waiting(await runner().run(f, { n: 1 }));
    if (first.pending.kind !== "interrupt") throw new Error("no interrupt");
    expect(first.pending.info).toEqual(new Money(5));
    const kept = runner().loadCheckpoint(f, runner().dumpCheckpoint(first.checkpoint));
    const done = await runner().resume(f, kept, answer(Mine, new Money(7)));
    expect(stateOf(done).said).toEqual(["8"]);
  });

  it("FLOW-22 FLOW-12 a retry asks nothing again that was answered", async () => {
    let tries = 0;
    const f = asking(async (ctx) => {
      const { text } = await ctx.ask(Evidence, { round: 1 });
      if ((tries += 1) < 3) throw new Error("not yet");
      return [text];
    }, 5);
    const { runner } = world();
    const { checkpoint } = waiting(await runner().run(f, { n: 1 }));
    expect(stateOf(await runner().resume(f, checkpoint, text("once"))).said).toEqual(["once"]);
    expect(tries).toBe(3);
  });

  it("FLOW-22 FLOW-38 a question that the re-run does not ask again is superseded; one that waits stays as it is", async () => {
    let again = 0;
    const f = asking(async (ctx) => {
      again += 1;
      const first = ctx.ask(Evidence, { round: 1 });
      if (again === 1) void ctx.ask(Yes);
      const second = ctx.ask(Evidence, { round: 2 });
      const [one, two] = await Promise.all([first, second]);
      return [one.text, two.text];
    });
    const { runner, notices } = world();
    const first = waiting(await runner().run(f, { n: 1 }));
    const ids = first.pendings.map(({ id }) => id) as [string, string, string];
    const second = waiting(
      await runner().resume(f, first.checkpoint, replies({ [ids[2]]: text("two") }), {
        unanswered: "supersede",
      }),
    );
    expect(second.pendings.map(({ id }) => id)).toEqual([ids[0]]);
    expect(notices.filter(({ type }) => type === "superseded")).toMatchObject([
      { visit: "ask#1", ids: [ids[1]] },
    ]);
    const done = await runner().resume(f, second.checkpoint, text("one"));
    expect(stateOf(done).said).toEqual(["one", "two"]);
  });

  it("FLOW-22 FLOW-37 a question asked after the node returned never starts", async () => {
    const f = asking(async (ctx) => {
      setImmediate(() => void ctx.ask(Yes));
    });
    const { runner, notices } = world();
    stateOf(await runner().run(f, { n: 1 }));
    await settle();
    const told = notices.map(({ type }) => type);
    expect(told).toContain("call-dropped");
    expect(told).not.toContain("interrupted");
  });
});
