// What people say, in every order, at every time.
import { describe, expect, it } from "vitest";

import { ApprovalAlreadyDecided, approve, unverified } from "../src/index.ts";
import { file, no, person, requestFor, scope, spend, world, yes } from "./world.ts";

const withCode = (code: string) => expect.objectContaining({ code });

describe("decide", () => {
  it("APR-03 APR-20 records a decision and spends nothing", async () => {
    const here = world();
    const id = await file(here);
    const decision = approve({ by: unverified("dana"), note: "fine" });
    expect(await here.records.decide({ scope, id, decision })).toEqual({
      status: "decided",
      runId: "run-1",
      decision: {
        approved: true,
        by: { id: "dana", assurance: "none" },
        at: 1_000_000,
        note: "fine",
      },
    });
    expect(await here.records.read(scope, id)).toMatchObject({ state: "decided" });
  });

  it("R034 gives 100 deliveries of one decision one transition and 100 equal answers", async () => {
    const here = world();
    const id = await file(here);
    const decision = await yes("dana");
    const answers = await Promise.all(
      Array.from({ length: 100 }, () =>
        here.records.decide({ scope, id, decision, attemptId: "delivery" }),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: "decided" });
    const report = await here.records.verifyAudit(scope, id);
    expect(report).toMatchObject({
      status: "whole",
      entries: [{ kind: "requested" }, { kind: "decided", approved: true, by: { id: "dana" } }],
    });
    await spend(here, id, "one");
    expect(await here.records.decide({ scope, id, decision, attemptId: "delivery" })).toEqual(
      answers[0],
    );
  });

  it("APR-20 tells a person who says the same again that it stands, and anybody else who was first", async () => {
    const here = world();
    const id = await file(here);
    await here.records.decide({ scope, id, decision: await yes("dana") });
    expect(await here.records.decide({ scope, id, decision: await yes("dana") })).toMatchObject({
      status: "already",
      decision: { approved: true },
    });
    for (const decision of [await no("dana"), await yes("erik"), await no("erik")]) {
      const late = here.records.decide({ scope, id, decision });
      await expect(late).rejects.toBeInstanceOf(ApprovalAlreadyDecided);
      await expect(late).rejects.toMatchObject({
        code: "approval-already-decided",
        approvalId: id,
        decision: { approved: true, by: { id: "dana" } },
      });
    }
    expect((await here.records.show(scope, id))?.lateVotes).toEqual([]);
  });

  it("CASE-158 APR-14 keeps the third vote of a quorum of two as late, once, and tells its caster", async () => {
    const here = world();
    const id = await file(here, { rule: { quorum: 2 } });
    const decide = async (who: string, attemptId?: string) =>
      here.records.decide({
        scope,
        id,
        decision: await yes(who),
        ...(attemptId === undefined ? {} : { attemptId }),
      });
    const results = await Promise.allSettled(
      ["a", "b", "c"].map((who) => decide(who, `by-${who}`)),
    );
    const told = results.map((r) => (r.status === "fulfilled" ? r.value.status : "late"));
    expect(told.toSorted()).toEqual(["decided", "late", "open"]);
    const late = "abc"[told.indexOf("late")]!;
    await expect(decide(late)).rejects.toThrow(withCode("approval-already-decided"));
    await expect(decide(late, `by-${late}`)).rejects.toThrow(withCode("approval-already-decided"));
    expect(await decide("abc"[told.indexOf("open")]!)).toMatchObject({ status: "already" });
    const view = await here.records.show(scope, id);
    expect(view?.lateVotes.map((vote) => vote.by.id)).toEqual([late]);
    expect(view?.votes).toHaveLength(2);
    const report = await here.records.verifyAudit(scope, id);
    const kinds = report.status === "whole" ? report.entries.map((entry) => entry.kind) : [];
    expect(kinds).toEqual(["requested", "voted", "decided", "late"]);
    await spend(here, id, "one");
    await expect(decide("d")).rejects.toThrow(withCode("approval-already-decided"));
    expect((await here.records.show(scope, id))?.lateVotes).toHaveLength(2);
    expect((await here.records.verifyAudit(scope, id)).status).toBe("whole");
  });

  it("APR-14 gives an open vote the same answer again, also when it was decided since", async () => {
    const here = world();
    const id = await file(here, { rule: { quorum: 3 } });
    const runId = "run-1";
    const decide = async (who: string) =>
      here.records.decide({ scope, id, decision: await yes(who), attemptId: `by-${who}` });
    expect(await decide("a")).toEqual({ status: "open", missing: 2, runId });
    expect(await decide("b")).toEqual({ status: "open", missing: 1, runId });
    expect(await decide("a")).toEqual({ status: "open", missing: 2, runId });
    const other = here.records.decide({ scope, id, decision: await yes("a") });
    expect(await other).toEqual({ status: "open", missing: 1, runId });
    await decide("c");
    expect(await decide("b")).toEqual({ status: "open", missing: 1, runId });
    expect(await decide("c")).toMatchObject({ status: "decided" });
  });

  it("APR-25 compares the arguments that were shown with the record's own", async () => {
    const here = world();
    const id = await file(here);
    const decision = await yes("dana");
    const other = requestFor({ arguments: {} }).argumentsDigest;
    const wrong = here.records.decide({ scope, id, decision, argumentsDigest: other });
    await expect(wrong).rejects.toThrow(withCode("arguments-differ"));
    const { argumentsDigest } = requestFor();
    const right = await here.records.decide({ scope, id, decision, argumentsDigest });
    expect(right.status).toBe("decided");
  });

  it("APR-15 takes nobody's word for a rule that names people, and records nothing of the try", async () => {
    const here = world();
    const id = await file(here, { rule: { approvers: ["dana"], excludeRequester: true } });
    const decide = (by: ReturnType<typeof unverified>) =>
      here.records.decide({ scope, id, decision: approve({ by }) });
    await expect(decide(unverified("dana"))).rejects.toThrow(withCode("actor-unverified"));
    await expect(decide(await person("rita"))).rejects.toThrow(withCode("actor-excluded"));
    await expect(decide(await person("erik"))).rejects.toThrow(withCode("actor-not-eligible"));
    expect(await here.records.verifyAudit(scope, id)).toMatchObject({ entries: [{}] });
    await here.records.decide({ scope, id, decision: approve({ by: await person("dana") }) });
    await expect(decide(await person("erik"))).rejects.toThrow(withCode("actor-not-eligible"));
  });

  it("APR-05 finds nothing in another scope, and takes no id or attempt that is none", async () => {
    const here = world();
    const id = await file(here);
    const decide = async (more: object) =>
      here.records.decide({ scope, id, decision: await yes("dana"), ...more });
    await expect(decide({ scope: "other" })).rejects.toThrow(withCode("approval-not-found"));
    await expect(decide({ scope: undefined })).rejects.toThrow(withCode("id-invalid"));
    await expect(decide({ scope: "" })).rejects.toThrow(withCode("id-invalid"));
    await expect(decide({ attemptId: "a b" })).rejects.toThrow(withCode("id-invalid"));
    await expect(decide({ decision: { kind: "approve" } })).rejects.toThrow(
      withCode("decision-invalid"),
    );
    expect(await here.records.show("other", id)).toBeUndefined();
    expect(await here.records.asked("other", id)).toBe(0);
  });
});

describe("an expiry", () => {
  const rule = { expiresInMs: 1_000 };

  it("R096 APR-13 denies in each order of deciding, resuming and sweeping", async () => {
    type World = ReturnType<typeof world>;
    const decide = async (here: World) => {
      const late = here.records.decide({ scope, id: "apr-1", decision: await yes("dana") });
      await expect(late).rejects.toThrow(withCode("approval-expired"));
    };
    const resume = async (here: World) => {
      const plan = await spend(here, "apr-1", "one");
      expect(plan).toMatchObject({
        decision: { approved: false, reason: "expired", at: 1_001_000 },
      });
    };
    const bring = async (here: World) => {
      const plan = await spend(here, "apr-1", "two", { decision: await yes("dana") });
      expect(plan).toMatchObject({
        status: "stands",
        mine: false,
        decision: { reason: "expired" },
      });
    };
    const sweep = async (here: World) => void (await here.records.sweep(scope));
    const steps = [decide, resume, bring, sweep];
    for (const order of permutations(steps)) {
      const here = world();
      await file(here, { rule });
      here.clock.move(1_000);
      for (const step of order) await step(here);
      expect(await here.records.read(scope, "apr-1")).toMatchObject({
        state: "consumed",
        outcome: "expired",
        decision: { approved: false, reason: "expired", at: 1_001_000 },
      });
      expect((await here.records.verifyAudit(scope, "apr-1")).status).toBe("whole");
    }
  });

  it("R097 APR-13 leaves a decision made in time as it stands, however late it is used", async () => {
    const here = world();
    const id = await file(here, { rule });
    here.clock.move(999);
    await here.records.decide({ scope, id, decision: await yes("dana") });
    here.clock.move(1_000_000);
    expect(await here.records.sweep(scope)).toEqual([]);
    expect(await spend(here, id, "one")).toMatchObject({
      status: "ready",
      decision: { approved: true },
    });
  });

  it("R031 APR-13 refuses in the commit what was in time when it was read", async () => {
    const here = world();
    const id = await file(here, { rule });
    here.clock.move(999);
    const { argumentsDigest } = requestFor();
    const decision = await yes("dana");
    const plan = await here.records.settle({
      scope,
      id,
      attemptId: "one",
      argumentsDigest,
      decision,
    });
    if (plan.status !== "ready") throw new Error(plan.status);
    here.clock.move(1);
    expect(await here.store.commit("one", plan.writes)).toMatchObject({
      status: "refused",
      refusal: { because: "late" },
    });
    expect(await spend(here, id, "one", { decision })).toMatchObject({
      status: "stands",
      decision: { reason: "expired" },
    });
  });

  it("R031 APR-13 tells one who decides while the time runs out that it did", async () => {
    const here = world();
    const slow = {
      ...here.store,
      commit: (...how: Parameters<typeof here.store.commit>) => {
        here.clock.move(1);
        return here.store.commit(...how);
      },
    };
    const late = world({ store: slow });
    const id = await file(here, { rule });
    here.clock.move(999);
    const deciding = late.records.decide({ scope, id, decision: await yes("dana") });
    await expect(deciding).rejects.toThrow(withCode("approval-expired"));
  });

  it("APR-13 sweeps what is over, a page at a time, and nothing else", async () => {
    const here = world();
    for (let at = 0; at < 5; at += 1) await file(here, { rule, callId: `c${at}` }, `apr-${at}`);
    await file(here, { callId: "for-ever" }, "for-ever");
    await file(here, { rule: { expiresInMs: 1_001 }, callId: "later" }, "later");
    expect(await here.records.sweep(scope)).toEqual([]);
    here.clock.move(1_000);
    expect(await here.records.sweep(scope, 2)).toEqual(["apr-0", "apr-1"]);
    expect(await here.records.sweep(scope)).toEqual(["apr-2", "apr-3", "apr-4"]);
    expect(await here.records.sweep(scope)).toEqual([]);
    expect(await here.records.sweep("other")).toEqual([]);
  });

  it("APR-13 sweeps each record once when two sweep at the same time", async () => {
    const here = world();
    for (let at = 0; at < 5; at += 1) await file(here, { rule, callId: `c${at}` }, `apr-${at}`);
    here.clock.move(1_000);
    const swept = await Promise.all([here.records.sweep(scope), here.records.sweep(scope)]);
    expect(swept.flat().toSorted()).toEqual(["apr-0", "apr-1", "apr-2", "apr-3", "apr-4"]);
  });
});

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length <= 1) return [items];
  return items.flatMap((item, at) =>
    permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]),
  );
}
