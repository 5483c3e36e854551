import { approve, defineInterrupt, flow, inDoubt } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { agentTools } from "../../src/agents.ts";
import { defineWorkflow } from "../../src/index.ts";
import { defineTool, Executor, type AnyTool, type Tool } from "@holdpoint/tools";
import { rest } from "../timed-clock.ts";
import { dana } from "../world.ts";
import { desks, homeWith, leaseMs, supervisorStore } from "./desks.ts";

const Evidence = defineInterrupt({
  name: "evidence",
  answer: z.strictObject({ url: z.string().min(8) }),
  answerBy: "anyone",
});
const Verdict = defineInterrupt({ name: "verdict", answer: z.strictObject({ ok: z.boolean() }) });

const State = z.object({ url: z.string().optional(), ok: z.boolean().optional() });

/** A run that asks for evidence, which anyone may bring, and then for a verdict, which people give. */
const claim = defineWorkflow({
  name: "claim",
  version: "1",
  input: z.object({}),
  resume: z.union([z.strictObject({ url: z.string() }), z.strictObject({ ok: z.boolean() })]),
  flow: flow("claim", State)
    .node("collect", async (_, ctx) => ({ url: (await ctx.ask(Evidence, undefined)).url }), {
      asks: [Evidence],
    })
    .node("judge", async (_, ctx) => ({ ok: (await ctx.ask(Verdict, undefined)).ok }), {
      asks: [Verdict],
    })
    .path("collect", "judge")
    .build(),
});

/** A run that asks both at once, and waits at a gate beside them. */
const both = defineWorkflow({
  name: "both",
  version: "1",
  input: z.object({}),
  resume: z.unknown(),
  flow: flow("both", z.object({ all: z.array(z.string()).optional() }))
    .node(
      "ask",
      async (_, ctx) => {
        const [{ url }, { ok }] = await Promise.all([
          ctx.ask(Evidence, undefined),
          ctx.ask(Verdict, undefined),
        ]);
        return { all: [url, String(ok)] };
      },
      { asks: [Evidence, Verdict] },
    )
    .build(),
});

/** A run that asks the same twice at once. */
const twice = defineWorkflow({
  name: "twice",
  version: "1",
  input: z.object({}),
  resume: z.unknown(),
  flow: flow("twice", z.object({ all: z.array(z.string()).optional() }))
    .node(
      "ask",
      async (_, ctx) => {
        const both = [ctx.ask(Evidence, undefined), ctx.ask(Evidence, undefined)];
        return { all: (await Promise.all(both)).map((answer) => answer.url) };
      },
      { asks: [Evidence] },
    )
    .build(),
});

const url = "https://example.test/photo";

/** Stores of a process whose last commit is, once that is said, the next one that moves a run to running. */
function mortal(home: Parameters<typeof supervisorStore>[0]) {
  let isLast = false;
  let isDead = false;
  const dying = homeWith(home, async (attemptId, writes) => {
    if (isDead) return new Promise(() => undefined);
    const outcome = await home.commit(attemptId, writes);
    isDead = isLast && writes.some(({ values }) => values["status"] === "running");
    return outcome;
  });
  return { store: supervisorStore(dying), diesOnceResumed: (): void => void (isLast = true) };
}

async function waiting() {
  const world = desks();
  const desk = world.openOf([claim, both, twice]);
  await desk.activate();
  const { runId } = await desk.start("claim", {});
  await desk.settled(runId);
  return { ...world, desk, runId };
}

describe("resuming with a payload", () => {
  it("WF-22 WF-01 answers what a run asks, by its schemas, and goes on to its next question", async () => {
    const { desk, runId } = await waiting();
    expect((await desk.get(runId))?.waitsFor).toMatchObject([
      { kind: "interrupt", tool: "ask:evidence", answerBy: "anyone" },
    ]);
    const taken = await desk.resume(claim, runId, { url }, { by: dana });
    expect(taken).toEqual({ status: "accepted", runId });
    expect((await desk.settled(runId)).waitsFor).toMatchObject([{ tool: "ask:verdict" }]);
    await desk.resume(claim, runId, { ok: true });
    expect((await desk.settled(runId)).status).toBe("completed");
    expect(await desk.output(claim, runId)).toEqual({ url, ok: true });
    const said = (await desk.history(runId)).map(({ text }) => text);
    expect(said).toContain("asks evidence");
    expect(said).toContain("answered by dana");
    expect(JSON.stringify(said)).not.toContain(url);
  });

  it("WF-22 STORE-05 spends, answers and moves the registry in one commit, under the epoch", async () => {
    const { desk, runId, home } = await waiting();
    const commits: { readonly table: string; readonly status: unknown }[][] = [];
    home.watch((applied) =>
      commits.push(applied.map(({ table, row }) => ({ table, status: row.values["status"] }))),
    );
    await desk.resume(claim, runId, { url });
    expect(commits[0]).toEqual([
      { table: "log", status: undefined },
      { table: "runs", status: "running" },
    ]);
    expect((await desk.get(runId))?.status).not.toBe("interrupted");
    await desk.waitIdle();
  });

  it("WF-22 CASE-104 changes nothing where anything is wrong", async () => {
    const { desk, runId, home, openOf } = await waiting();
    const { runId: done } = await desk.start("both", {});
    await desk.settled(done);
    await desk.cancel(done, { reason: "x" });
    const stands = () => ["runs", "log"].map((table) => home.rows(table, "default"));
    const before = stands();
    const wrong: readonly (readonly [Promise<unknown>, string])[] = [
      [desk.resume(claim, runId, { url: 7 } as never), "input-invalid"],
      [desk.resume(claim, runId, { url, extra: 1 } as never), "input-invalid"],
      [desk.resume(claim, runId, { url: "short" }), "answer-invalid"],
      [desk.resume(claim, runId, { ok: true }), "answer-invalid"],
      [desk.resume(claim, runId, { url }, { interrupt: "verdict" }), "interrupt-unclear"],
      [desk.resume(both, runId, { url }), "status-wrong"],
      [desk.resume(both, done, {}), "status-wrong"],
      [desk.resume(claim, "run-0", { url }), "run-not-found"],
    ];
    for (const [asked, code] of wrong) await expect(asked).rejects.toMatchObject({ code });
    const standby = openOf([claim, both]);
    await standby.activate();
    await expect(standby.resume(claim, runId, { url })).rejects.toMatchObject({
      code: "session-owned",
    });
    expect(stands()).toEqual(before);
    await desk.resume(claim, runId, { url });
    await desk.waitIdle();
  });

  it("WF-22 lets one of two at once through, and the other changes nothing", async () => {
    const { desk, runId } = await waiting();
    const other = "https://example.test/another";
    const two = [desk.resume(claim, runId, { url }), desk.resume(claim, runId, { url: other })];
    const told = await Promise.allSettled(two);
    await desk.waitIdle();
    expect(told.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    const history = await desk.history(runId);
    expect(history.filter(({ type }) => type === "answered")).toHaveLength(1);
  });

  it("WF-22 answers already to the same payload for the same question, wherever the run is by then", async () => {
    const { desk, runId } = await waiting();
    const [evidence] = (await desk.get(runId))!.waitsFor;
    const interrupt = evidence!.id;
    const already = { status: "already", runId };
    const twice = [1, 2].map(() => desk.resume(claim, runId, { url }, { interrupt }));
    expect(await Promise.all(twice)).toEqual([{ status: "accepted", runId }, already]);
    await desk.settled(runId);
    // At its next question, by id or by name, and by nothing else.
    expect(await desk.resume(claim, runId, { url }, { interrupt })).toEqual(already);
    expect(await desk.resume(claim, runId, { url }, { interrupt: "evidence" })).toEqual(already);
    const other = { url: "https://example.test/another" };
    const wrong = [
      [desk.resume(claim, runId, other, { interrupt }), "interrupt-unclear"],
      [desk.resume(claim, runId, { url }), "answer-invalid"], // meant for what waits now
    ] as const;
    for (const [asked, code] of wrong) await expect(asked).rejects.toMatchObject({ code });
    await desk.resume(claim, runId, { ok: true });
    await desk.settled(runId);
    // At its end: the last answer needs no name, the first one does.
    expect(await desk.resume(claim, runId, { ok: true })).toEqual(already);
    expect(await desk.resume(claim, runId, { url }, { interrupt })).toEqual(already);
    for (const again of [{ ok: false }, { url }]) {
      const code = "status-wrong";
      await expect(desk.resume(claim, runId, again)).rejects.toMatchObject({ code });
    }
    const history = await desk.history(runId);
    expect(history.filter(({ type }) => type === "answered")).toHaveLength(2);
  });

  it("WF-22 answers already to several answers given again together, and not to some of them", async () => {
    const { desk } = await waiting();
    const { runId } = await desk.start("both", {});
    await desk.settled(runId);
    const all = { evidence: { url }, verdict: { ok: true } };
    await desk.resume(both, runId, all);
    await desk.settled(runId);
    expect(await desk.resume(both, runId, all)).toEqual({ status: "already", runId });
    const code = "status-wrong";
    for (const other of [{ evidence: { url } }, { ...all, verdict: { ok: false } }]) {
      await expect(desk.resume(both, runId, other)).rejects.toMatchObject({ code });
    }
  });

  it("WF-22 WF-41 tells no model what a person had answered", async () => {
    const { desk, runId } = await waiting();
    await desk.resume(claim, runId, { url });
    await desk.settled(runId);
    await desk.resume(claim, runId, { ok: true });
    await desk.settled(runId);
    const code = "status-wrong";
    const model = desk.resume(claim, runId, { ok: true }, { openTo: "anyone" });
    await expect(model).rejects.toMatchObject({ code });
    const own = desk.resume(claim, runId, { url }, { openTo: "anyone", interrupt: "evidence" });
    expect((await own).status).toBe("already");
  });

  it("WF-01 takes an id or a name where several wait, or a record by their names", async () => {
    const { desk } = await waiting();
    const { runId: one } = await desk.start("both", {});
    const { waitsFor } = await desk.settled(one);
    expect(waitsFor.map(({ tool }) => tool)).toEqual(["ask:evidence", "ask:verdict"]);
    await expect(desk.resume(both, one, { url })).rejects.toMatchObject({
      code: "interrupt-unclear",
    });
    await desk.resume(both, one, { url }, { interrupt: waitsFor[0]!.id });
    expect((await desk.settled(one)).waitsFor.map(({ tool }) => tool)).toEqual(["ask:verdict"]);
    await desk.resume(both, one, { ok: true }, { interrupt: "verdict" });
    expect(await desk.settled(one)).toMatchObject({ status: "completed" });
    const { runId: two } = await desk.start("both", {});
    await desk.settled(two);
    await desk.resume(both, two, { evidence: { url }, verdict: { ok: false } });
    await desk.settled(two);
    expect(await desk.output(both, two)).toEqual({ all: [url, "false"] });
  });

  it.each([
    ["a list, which has no names", [1, 2], "name one of evidence, verdict"],
    ["nothing by a name", { evidence: { url }, other: 1 }, "asks nothing of that name or id"],
  ])(
    "WF-01 is refused where several wait and it is %s, and spends nothing",
    async (_, payload, says) => {
      const { desk } = await waiting();
      const { runId } = await desk.start("both", {});
      const { waitsFor } = await desk.settled(runId);
      const unclear = { code: "interrupt-unclear", message: expect.stringContaining(says) };
      await expect(desk.resume(both, runId, payload)).rejects.toMatchObject(unclear);
      expect((await desk.get(runId))?.waitsFor).toEqual(waitsFor);
    },
  );

  it("WF-01 wants the id where two wait under one name, and names both", async () => {
    const { desk } = await waiting();
    const { runId } = await desk.start("twice", {});
    const { waitsFor } = await desk.settled(runId);
    const [one, two] = waitsFor.map(({ id }) => id);
    const payload = { url };
    const unclear = {
      code: "interrupt-unclear",
      message: expect.stringContaining(`${one}, ${two}`),
    };
    for (const how of [{ interrupt: "evidence" }, {}]) {
      const given = how.interrupt === undefined ? { evidence: payload } : payload;
      await expect(desk.resume(twice, runId, given, how)).rejects.toMatchObject(unclear);
    }
    await desk.resume(twice, runId, { url: `${url}/2` }, { interrupt: two! });
    await desk.settled(runId);
    await desk.resume(twice, runId, payload);
    await desk.settled(runId);
    expect(await desk.output(twice, runId)).toEqual({ all: [url, `${url}/2`] });
  });

  it("WF-31 WF-21 keeps an acknowledged payload over a crash, and invents none", async () => {
    const { home, openOf, clock } = desks();
    const { store: dying, diesOnceResumed } = mortal(home);
    const first = openOf([claim], { store: dying });
    await first.activate();
    const { runId } = await first.start("claim", {});
    await first.settled(runId);
    const { runId: other } = await first.start("claim", {});
    await first.settled(other);
    diesOnceResumed();
    expect((await first.resume(claim, runId, { url })).status).toBe("accepted");
    await clock.advance(2 * leaseMs);
    const second = openOf([claim]);
    const { adoptions } = await second.activate();
    expect(adoptions).toEqual([{ runId, did: "begun", how: "adopt" }]);
    expect((await second.settled(runId)).waitsFor).toMatchObject([{ tool: "ask:verdict" }]);
    expect((await second.get(other))?.waitsFor).toMatchObject([{ tool: "ask:evidence" }]);
  });

  it("WF-31 WF-30 goes on with a run that was asked about while its session was being taken", async () => {
    const { home, openOf, clock } = desks();
    const { store: dying, diesOnceResumed } = mortal(home);
    const first = openOf([claim], { store: dying });
    await first.activate();
    const { runId } = await first.start("claim", {});
    await first.settled(runId);
    diesOnceResumed();
    await first.resume(claim, runId, { url });
    await clock.advance(2 * leaseMs);

    const standing = supervisorStore(home);
    let letGo = (): void => undefined;
    const isTaken = new Promise<void>((resolve) => (letGo = resolve));
    let said: Promise<unknown> | undefined;
    const store: typeof standing = {
      ...standing,
      log: {
        ...standing.log,
        head: (...how) => isTaken.then(() => standing.log.head(...how)),
      },
      runs: {
        ...standing.runs,
        async list(...how) {
          const rows = await standing.runs.list(...how);
          said ??= second.resume(claim, runId, { url });
          await rest(); // it holds the run's lane by now, and asks its log what was said before
          return rows;
        },
      },
    };
    const second = openOf([claim], { store });
    const { adoptions } = await second.activate();
    expect(adoptions).toEqual([{ runId, did: "held" }]);
    letGo();
    expect(await said).toEqual({ status: "already", runId });
    await rest();
    expect((await second.settled(runId)).waitsFor).toMatchObject([{ tool: "ask:verdict" }]);
  });

  it("WF-41 lets a model answer what is open to anyone, and nothing that is for people", async () => {
    const { desk, runId } = await waiting();
    const tools = agentTools(desk, { session: "desk" });
    const tool = tools.find(({ name }) => name === "workflow_run_resume") as AnyTool;
    const call = (args: unknown): Promise<unknown> => new Executor().call(tool, args as never);
    expect(await call({ run_id: runId, resume: { url } })).toMatchObject({ run_id: runId });
    const { waitsFor } = await desk.settled(runId);
    expect(waitsFor).toMatchObject([{ tool: "ask:verdict", answerBy: "people" }]);
    for (const more of [{}, { interrupt: "verdict" }, { interrupt: waitsFor[0]!.id }]) {
      await expect(call({ run_id: runId, resume: { ok: true }, ...more })).rejects.toThrow(
        /a person has to give/,
      );
    }
    const { runId: two } = await desk.start("both", {});
    await desk.settled(two);
    const all = { evidence: { url }, verdict: { ok: true } };
    for (const args of [
      { run_id: two, resume: all },
      { run_id: two, resume: { ok: true }, interrupt: "verdict" },
    ]) {
      await expect(call(args)).rejects.toThrow(/a person has to give/);
    }
    expect((await desk.get(two))?.waitsFor).toHaveLength(2);
    await call({ run_id: two, resume: { url }, interrupt: "evidence" });
    await rest();
    expect((await desk.get(two))?.waitsFor).toMatchObject([{ tool: "ask:verdict" }]);
  });

  it("WF-22 answers no approval: those are decided", async () => {
    const { activated, refund } = desks();
    const desk = await activated();
    const { runId } = await desk.start("refund", { orderId: "A-17" });
    const { waitsFor } = await desk.settled(runId);
    await expect(desk.resume(refund, runId, {} as never)).rejects.toMatchObject({
      code: "resume-not-taken",
    });
    await desk.decide(waitsFor[0]!.id, approve({ by: dana }));
    await rest();
    expect((await desk.get(runId))?.status).toBe("completed");
  });

  it("WF-41 WF-21 leaves a call in doubt to a person, who says what became of it, and nothing runs twice", async () => {
    const { home, openOf, clock } = desks();
    const sent: string[] = [];
    let hangs = true;
    const mail = defineTool({
      name: "mail",
      description: "Sends a letter, each time it is called.",
      input: z.object({}),
      output: z.object({ id: z.string() }),
      execute: (_, { runId: of }) => {
        sent.push(of);
        return hangs ? new Promise<{ id: string }>(() => undefined) : { id: "m-2" };
      },
    });
    let isDead = false;
    const dying = homeWith(home, (...how) =>
      isDead ? new Promise(() => undefined) : home.commit(...how),
    );
    const letters = lettersBy(mail);
    const first = openOf([letters], { store: supervisorStore(dying) });
    await first.activate();
    const { runId } = await first.start("letter", {});
    await rest();
    isDead = true;
    await clock.advance(2 * leaseMs);
    hangs = false;
    const second = openOf([letters]);
    await second.activate();
    const { waitsFor } = await second.settled(runId);
    expect(waitsFor).toMatchObject([{ kind: "in-doubt", tool: "mail" }]);
    expect((await second.explain(runId)).why).toBe("waits-for-people");
    const tools = agentTools(second, { session: "desk" });
    const tool = tools.find(({ name }) => name === "workflow_run_resume") as AnyTool;
    const args = { run_id: runId, resume: { id: "m-1" } } as never;
    await expect(new Executor().call(tool, args)).rejects.toThrow(/a person has to give/);
    const id = waitsFor[0]!.id;
    const said = inDoubt.ran(mail, { id: "m-1" }, { by: dana });
    expect((await second.answerDoubt(runId, id, said)).status).toBe("accepted");
    expect((await second.settled(runId)).status).toBe("completed");
    expect(await second.output(letters, runId)).toEqual({ id: "m-1" });
    await expect(second.answerDoubt(runId, id, said)).rejects.toMatchObject({
      code: "status-wrong",
    });
    expect(sent).toEqual([runId]);
  });
});

const Letter = z.object({ id: z.string().optional() });

/** A run that sends one letter by a tool that can't be called twice. */
function lettersBy(mail: Tool<object, { id: string }, "mail">) {
  return defineWorkflow({
    name: "letter",
    version: "1",
    input: z.object({}),
    flow: flow("letter", Letter)
      .call("send", mail, { args: {}, into: ({ id }) => ({ id }) })
      .build(),
  });
}
