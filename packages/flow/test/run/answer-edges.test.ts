// Answers, verdicts, plans and retries in rare shapes, and single parts of a run by themselves.
import {
  approve,
  deny,
  editedArguments,
  DeferredApproval,
  memoryApprovalStore,
} from "@holdpoint/approvals";
import { defineTool, errorInfo, Executor, rebuildError } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { openCheckpoint } from "../../src/checkpoint/open.ts";
import { FlowError } from "../../src/errors.ts";
import { standingOf } from "../../src/run/already.ts";
import { graphOf } from "../../src/graph/flow.ts";
import {
  answer,
  defineInterrupt,
  flow,
  inDoubt,
  memoryRunLog,
  replies,
  type RunLog,
} from "../../src/index.ts";
import { answerTerms } from "../../src/run/answer.ts";
import { doubtTerms } from "../../src/run/doubt-answer.ts";
import { drive } from "../../src/run/drive.ts";
import type { LiveRun } from "../../src/run/live.ts";
import { resolveOptions } from "../../src/run/options.ts";
import { openWaits, pendingOf } from "../../src/run/pending.ts";
import { rootPlace } from "../../src/run/place.ts";
import { planAnswer } from "../../src/run/plan-answer.ts";
import { planVerdict } from "../../src/run/plan-verdict.ts";
import { restOn } from "../../src/run/rest.ts";
import { keptAsText, revealed } from "../../src/run/reveal.ts";
import { handClock, settle } from "../support/clock.ts";
import { die, dying, State as Dying } from "../support/dying.ts";
import { effects } from "../support/effects.ts";
import { one } from "../support/one-call.ts";
import { asking, Said, Yes } from "../support/questions.ts";
import {
  dana,
  keyring,
  paused,
  recordlessPort,
  rejection,
  stateOf,
  waiting,
  world,
  yes,
} from "../support/world.ts";

/** A paused run, opened: as its checkpoint would be gone on from. */
async function standing(f: ReturnType<typeof asking>) {
  const { runner } = world();
  const { checkpoint } = waiting(await runner().run(f, { n: 1 }));
  const { parts } = resolveOptions({ keyring });
  const graph = graphOf(f);
  const { state } = openCheckpoint(graph, parts, runner().dumpCheckpoint(checkpoint), {
    scope: "default",
  });
  const fault = new RangeError("out of memory");
  const throws = (): never => {
    throw fault;
  };
  const { signal } = new AbortController();
  const made = { graph, parts, state, signal };
  const live = made as unknown as LiveRun;
  const broken = (part: "encode" | "digest") =>
    ({
      ...made,
      parts: { ...parts, sealer: { ...parts.sealer, [part]: throws } },
    }) as never as LiveRun;
  return { live, broken, fault, wait: openWaits(state)[0]! };
}

describe("a decision for a port without records", () => {
  it("APR-15 FLOW-30 is kept with its note and whether it covers the run", async () => {
    const { f, log } = one();
    const { runner } = world({ approvals: recordlessPort(), log: memoryRunLog() });
    const { pending } = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    const said = deny({ by: dana, note: "not today", forRun: true });
    const error = await rejection(runner().resume(f, "r", replies({ [pending.id]: said })));
    expect(error).toMatchObject({ code: "approval-denied", data: { note: "not today" } });
    const history = await runner().history(f, "r");
    expect(history.find(({ type }) => type === "answered")).toMatchObject({
      answers: [
        { decision: { approved: false, by: { id: "dana" }, note: "not today", forRun: true } },
      ],
    });
    const plain = world({ approvals: recordlessPort(), log: memoryRunLog() });
    const first = paused(await plain.runner().run(f, { n: 1 }, { runId: "r" }));
    stateOf(await plain.runner().resume(f, "r", replies({ [first.pending.id]: yes() })));
    const [answered] = (await plain.runner().history(f, "r")).filter(
      ({ type }) => type === "answered",
    );
    const { decision } = (answered as never as { answers: { decision: object }[] }).answers[0]!;
    expect(Object.keys(decision).toSorted()).toEqual(["approved", "at", "by"]);
    expect(log).toEqual(["gated(1)"]);
  });

  it("APR-03 FLOW-30 takes no edit of a tool's arguments, which nobody could check", async () => {
    const { f, log } = one();
    const { runner } = world({ approvals: recordlessPort() });
    const first = paused(await runner().run(f, { n: 1 }));
    const edit = approve({ by: dana, edited: editedArguments("gated", { n: 7 }) });
    expect(await rejection(runner().resume(f, first.checkpoint, edit))).toMatchObject({
      code: "edits-not-allowed",
      message: expect.stringContaining("keeps no records") as string,
    });
    expect(log).toEqual([]);
    stateOf(await runner().resume(f, first.checkpoint, yes()));
  });
});

describe("an answer", () => {
  it("FLOW-22 FLOW-53 to a question that the flow does not know any more is refused before anything is spent", async () => {
    const make = (asks: readonly (typeof Yes)[]) =>
      flow("f", Said)
        .node("ask", async (_, ctx) => void (await ctx.ask(Yes)), { asks })
        .build();
    const was = make([Yes]);
    const is = make([]);
    const { runner } = world();
    const first = waiting(await runner().run(was, { n: 1 }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    const by = runner({ migrations: [{ flow: "f", from: was.digest, to: is.digest }] });
    expect(
      await rejection(by.resume(is, by.loadCheckpoint(is, text), answer(Yes, true))),
    ).toMatchObject({
      code: "answer-invalid",
      message: expect.stringContaining("has no interrupt 'Yes'") as string,
    });
    stateOf(await runner().resume(was, runner().loadCheckpoint(was, text), answer(Yes, true)));
  });

  it("FLOW-22 may be given as what can't be sealed, if its schema makes something of it that can", async () => {
    const Odd = defineInterrupt({
      name: "Odd",
      answer: z.any().transform((given) => (typeof given === "function" ? "a function" : "else")),
    });
    const f = flow("f", z.object({ n: z.number(), got: z.string().optional() }))
      .node("ask", async (_, ctx) => ({ got: await ctx.ask(Odd) }), { asks: [Odd] })
      .build();
    const { runner } = world({ log: memoryRunLog() });
    const { pending } = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
    const reply = replies({ [pending.id]: answer(Odd, () => 1) });
    expect(stateOf(await runner().resume(f, "r", reply)).got).toBe("a function");
    const [answered] = (await runner().history(f, "r")).filter(({ type }) => type === "answered");
    expect((answered as never as { answers: object[] }).answers[0]).not.toHaveProperty("given");
  });

  it("FLOW-54 that comes a second time is told whose was the first, where that is known", async () => {
    for (const durable of [false, true]) {
      for (const by of [dana, undefined]) {
        const f = asking((ctx) => ctx.ask(Yes).then(() => []));
        const { runner } = world(durable ? { log: memoryRunLog() } : {});
        const { checkpoint } = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
        const said = answer(Yes, true, by && { by });
        stateOf(await runner().resume(f, checkpoint, said));
        const error = await rejection(runner().resume(f, checkpoint, answer(Yes, false)));
        const code = durable ? "resume-terminal" : "approval-already-decided";
        expect(error).toMatchObject({ code });
        if (durable) continue;
        expect(error).toMatchObject({ decision: { approved: true } });
      }
    }
    const given = {
      kind: "interrupt",
      visit: "a#1",
      callId: "c",
      payload: { form: "text", text: "1" },
    };
    for (const [by, id] of [
      [{ id: "dana", assurance: "none" }, "dana"],
      [undefined, "unnamed"],
    ]) {
      const { decision } = standingOf({ ...given, by } as never, 7);
      expect(decision).toEqual({ approved: true, by: { id, assurance: "none" }, at: 7 });
    }
  });

  it("FLOW-61 that meets a fault of this process is no answer that does not fit", async () => {
    const { live, broken, fault, wait } = await standing(
      asking((ctx) => ctx.ask(Yes).then(() => [])),
    );
    const matched = { ...wait, answer: answerTerms(answer(Yes, true))! } as never;
    expect(await planAnswer(live, matched)).toMatchObject({
      kind: "interrupt",
      given: expect.any(String) as string,
    });
    expect(await rejection(planAnswer(broken("digest"), matched))).toBe(fault);
    expect(await rejection(planAnswer(broken("encode"), matched))).toBe(fault);
  });
});

describe("what is said of a call in doubt", () => {
  const pathed = {
    "~standard": {
      version: 1 as const,
      vendor: "hand-made",
      validate: (value: unknown) =>
        typeof value === "object"
          ? { value }
          : {
              issues: [
                { message: "no receipt", path: ["paid", { key: "at" }, 3] },
                { message: "nor a number" },
              ],
            },
    },
  };
  const tools = {
    without: undefined,
    standard: pathed,
  } as const;

  /** A tool that dies in its call, with an output schema of a kind. */
  async function doubted(kind: keyof typeof tools) {
    const output = tools[kind];
    const pay = defineTool({
      name: "pay",
      description: "pays",
      input: z.object({}),
      ...(output !== undefined && { output }),
      execute: () => new Promise<never>(() => {}),
    } as never);
    const f = flow("f", z.object({ n: z.number(), got: z.any().optional() }))
      .node("a", async (_, ctx) => ({ got: await ctx.call(pay as never, {} as never) }))
      .build();
    const { runner } = world({ log: memoryRunLog() });
    await die((signal) => runner().run(f, { n: 1 }, { runId: "r", signal }));
    const { pending } = waiting(await runner().adopt(f, "r"));
    const say = (result: unknown) =>
      runner().resume(
        f,
        "r",
        replies({ [pending.id]: inDoubt.ran(pay as never, result as never, { by: dana }) }),
      );
    return { say, pay, f };
  }

  it("FLOW-61 FLOW-76 is taken as it is where the tool has no output schema, if it can be sealed", async () => {
    const { say } = await doubted("without");
    expect(await rejection(say({ at: () => 1 }))).toMatchObject({
      code: "answer-invalid",
      message: expect.stringContaining("nothing is spent") as string,
    });
    expect(stateOf(await say({ at: 5 })).got).toEqual({ at: 5 });
  });

  it("FLOW-61 FLOW-76 is checked by a schema that is not zod's, and refused by its words and paths", async () => {
    const { say } = await doubted("standard");
    const { code, message } = await rejection(say("nothing"));
    expect([code, message]).toEqual(["answer-invalid", expect.stringContaining("no receipt")]);
    expect(message).toMatch(/paid\.at/);
    expect(message).not.toContain("[object");
    expect(stateOf(await say({ paid: 1 })).got).toEqual({ paid: 1 });
  });

  it("FLOW-61 that meets a fault of this process is no result that does not fit", async () => {
    const { live, broken, fault } = await standing(asking((ctx) => ctx.ask(Yes).then(() => [])));
    const { pay } = dying();
    const wait = { callId: "c", started: { id: { name: "pay" } } };
    const doubt = doubtTerms(inDoubt.ran(pay, { paid: 1 }, { by: dana }))!;
    const matched = { path: "ask#1", wait, doubt } as never;
    expect(await planVerdict(live, matched)).toMatchObject({ verdict: { is: "ran" } });
    expect(await rejection(planVerdict(broken("encode"), matched))).toBe(fault);
  });

  it("FLOW-56 FLOW-76 APR-21 of one that another port allowed is put on no record of the runner's", async () => {
    const own = new DeferredApproval(memoryApprovalStore(), { keyring });
    const executor = new Executor({ approvals: own });
    const { pay } = dying({ confirm: true });
    const f = flow("f", Dying)
      .node("a", async (_, ctx) => ({
        note: `${(await ctx.call(pay, { id: 1 }, { executor })).paid}`,
      }))
      .build();
    const { runner, outcomes } = world({ log: memoryRunLog() });
    const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    const reply = replies({ [first.pending.id]: yes() });
    await die((signal) => runner().resume(f, "r", reply, { signal }));
    const { pending } = waiting(await runner().adopt(f, "r"));
    const ran = replies({ [pending.id]: inDoubt.ran(pay, { paid: 5 }, { by: dana }) });
    expect(stateOf(await runner().resume(f, "r", ran)).note).toBe("5");
    expect(await outcomes()).toEqual([]);
    expect(await own.records.read("default", first.pending.id)).toMatchObject({
      state: "consumed",
    });
  });
});

describe("a plan of a resume", () => {
  it("FLOW-64 says of a question without a deadline that somebody is waited for", async () => {
    const f = asking((ctx) => ctx.ask(Yes).then(() => []));
    const { runner } = world();
    const { checkpoint, pending } = waiting(await runner().run(f, { n: 1 }));
    const { nodes } = await runner().plan(f, checkpoint);
    expect(nodes).toMatchObject([{ will: "blocked", why: "waits", waitsFor: [pending.id] }]);
  });

  it("FLOW-64 counts nobody in who has answered already, in a process that died since", async () => {
    const { pay } = dying({ confirm: true, idempotent: true });
    const { other } = effects();
    const f = flow("f", Dying)
      .node("a", async (s, ctx) => {
        const both = await Promise.all([ctx.call(pay, { id: 1 }), ctx.call(other, { n: s.n })]);
        return { note: `${both[0].paid}` };
      })
      .build();
    const { runner } = world({ log: memoryRunLog() });
    const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    const [payment, second] = first.pendings;
    const reply = replies({ [payment!.id]: yes() });
    await die((signal) => runner().resume(f, "r", reply, { signal }));
    const { nodes } = await runner().plan(f, "r");
    expect(nodes).toMatchObject([{ will: "re-run", why: "due", waitsFor: [second!.id] }]);
  });
});

describe("a question", () => {
  it("FLOW-22 that shows something where nothing is to be shown is an error of its code", async () => {
    const f = asking(async (ctx) => {
      await ctx.ask(Yes as never, { round: 1 } as never);
    });
    const { runner } = world();
    expect(await rejection(runner().run(f, { n: 1 }))).toMatchObject({
      code: "node-failed",
      cause: {
        code: "interrupt-invalid",
        message: expect.stringContaining("none is defined") as string,
      },
    });
  });

  it("WF-28 FLOW-33 is asked of nobody where its node was cut off while the time was looked up", async () => {
    const clock = handClock();
    const inner = memoryRunLog();
    let tell: () => void = () => undefined;
    let isSlow = false;
    let mend: () => void = () => undefined;
    const mended = new Promise<void>((resolve) => (mend = resolve));
    const log: RunLog = Object.assign(Object.create(inner) as RunLog, {
      now: () =>
        isSlow
          ? new Promise<number>((resolve) => (tell = () => resolve(clock.now())))
          : inner.now(),
    });
    const f = flow("f", Said)
      .node(
        "ask",
        async (_, ctx) => {
          isSlow = true;
          await ctx.ask(Yes, undefined, { expiresInMs: 5_000 } as never);
        },
        { asks: [Yes], timeoutMs: 100 },
      )
      .node("mend", async (_, ctx) => {
        await ctx.step("mending", () => mended);
      })
      .failed("ask", "mend")
      .edge("ask", "$end")
      .edge("mend", "$end")
      .build();
    const { runner } = world({ log, clock });
    const running = runner().run(f, { n: 1 }, { runId: "r" });
    await clock.move(100);
    isSlow = false;
    tell(); // the run goes on already
    await settle();
    mend();
    stateOf(await running);
    const history = await runner().history(f, "r");
    expect(history.map(({ type }) => type)).not.toContain("interrupted");
  });

  it("FLOW-54 whose kept arguments are no text of a seal is a fault, and not one that nobody here may read", async () => {
    const { live } = await standing(asking((ctx) => ctx.ask(Yes).then(() => [])));
    const facts = {
      kind: "tool",
      tool: "pay",
      scope: "default",
      runId: "r",
      node: "ask#1",
      callId: "c",
      argumentKey: "k",
      requestedBy: undefined,
      rule: {},
    };
    const wait = { kind: "approval", callId: "c", facts, arguments: { form: "text", text: "{" } };
    expect(() => pendingOf(live, { path: "ask#1", wait } as never)).toThrow(
      expect.objectContaining({ code: "seal-malformed" }),
    );
  });
});

describe("a part of a run by itself", () => {
  it("FLOW-36 an error is built again with its facts, and without any where none are kept", () => {
    const info = errorInfo(new FlowError("node-failed", "it failed", { node: "a#1" }));
    expect(rebuildError(info)).toMatchObject({ code: "node-failed", data: { node: "a#1" } });
    const bare = rebuildError({ ...info, attributes: {} });
    expect(bare).toMatchObject({ code: "node-failed", message: "it failed", data: {} });
  });

  it("FLOW-10 a frame that leads nowhere and reached no end fails, naming where it is", async () => {
    const { live } = await standing(asking((ctx) => ctx.ask(Yes).then(() => [])));
    const place = rootPlace(live, drive);
    const nowhere = (path: string) => ({ ...place, frame: { ...live.state, path, visits: [] } });
    for (const [path, says] of [
      ["", /^run \S+ of 'f' has nowhere to go/],
      ["ask#1/inner.0", /^run \S+ of 'f' \(ask#1\/inner\.0\) has nowhere to go/],
    ] as const) {
      expect(await drive(nowhere(path) as never)).toMatchObject({
        status: "failing",
        error: { code: "dead-end", message: expect.stringMatching(says) as string },
        node: undefined,
      });
    }
  });

  it("FLOW-27 a value that was lost is told of by why and where, and differs from any that is there", () => {
    const { sealer } = resolveOptions({ keyring }).parts;
    const where = { runId: "r", node: "a#1" };
    const lost = { form: "lost", why: "it is a function" } as const;
    for (const path of ["odd.deep", undefined]) {
      const kept = path === undefined ? lost : { ...lost, path };
      let error: { code?: string; data?: object } = {};
      try {
        revealed(kept, sealer, [], where);
      } catch (thrown) {
        error = thrown as typeof error;
      }
      expect(error.code).toBe("state-not-sealable");
      expect(error.data).toEqual({ ...where, ...(path !== undefined && { path }) });
    }
    expect(keptAsText(lost, sealer)).toBe(sealer.encode(undefined));
    expect(keptAsText({ form: "value", value: 5 }, sealer)).toBe(sealer.encode(5));
    expect(keptAsText({ form: "text", text: "5" }, sealer)).toBe("5");
  });

  it("FLOW-38 code that was woken has come to rest before it is gone on, on a platform with a tick queue or without", async () => {
    for (const platform of [globalThis, {}, { process: {} }]) {
      const order: string[] = [];
      const rest = restOn(platform);
      const rested = new Promise<void>((resolve) => {
        rest(() => {
          order.push("rested");
          resolve();
        });
      });
      let woken = Promise.resolve();
      for (let turn = 0; turn < 20; turn++) woken = woken.then(() => void order.push("code"));
      await rested;
      expect(order).toEqual([...Array.from({ length: 20 }, () => "code"), "rested"]);
    }
  });
});
