// What a runner gets to commit, from every state a record can be in.
import { describe, expect, it } from "vitest";

import {
  approve,
  DeferredApproval,
  deny,
  memoryApprovalStore,
  statements,
  type ApprovalStore,
  type Outcome,
} from "../src/index.ts";
import { file, how, keyring, no, person, requestFor, scope, spend, world, yes } from "./world.ts";

const withCode = (code: string) => expect.objectContaining({ code });
const { argumentsDigest } = requestFor();

describe("settle", () => {
  it("APR-20 decides and consumes in one commit where the caller brings the decision", async () => {
    const here = world();
    const id = await file(here);
    const decision = approve({ by: await person("dana"), note: "fine" });
    const plan = await here.records.settle({
      scope,
      id,
      attemptId: "one",
      argumentsDigest,
      decision,
    });
    if (plan.status !== "ready") throw new Error(plan.status);
    expect(plan.decision).toEqual({
      approved: true,
      by: { id: "dana", assurance: "verified" },
      at: 1_000_000,
      note: "fine",
    });
    expect(plan.writes.map((write) => write.statement)).toEqual([
      statements.putRecord,
      statements.appendAudit,
      statements.appendAudit,
    ]);
    expect(await here.records.read(scope, id)).toMatchObject({ state: "pending" });
    expect((await here.store.commit("one", plan.writes)).status).toBe("done");
    expect(await here.records.read(scope, id)).toEqual({
      state: "consumed",
      argumentsDigest,
      attemptId: "one",
      outcome: undefined,
      decision: plan.decision,
    });
  });

  it("APR-12 answers pending without a decision, and missing for another scope or id", async () => {
    const here = world();
    const id = await file(here);
    const settle = (more: object) =>
      here.records.settle({ scope, id, attemptId: "one", argumentsDigest, ...more });
    expect(await settle({})).toEqual({ status: "pending" });
    expect(await settle({ id: "other" })).toEqual({ status: "missing" });
    expect(await settle({ scope: "other" })).toEqual({ status: "missing" });
    expect(await here.records.read("other", id)).toBeUndefined();
    await expect(settle({ scope: null })).rejects.toThrow(withCode("id-invalid"));
    await expect(settle({ id: "a'b" })).rejects.toThrow(withCode("id-invalid"));
  });

  it("APR-20 spends the decision on record where the caller brings the same, and none where another", async () => {
    const here = world();
    const id = await file(here);
    await here.records.decide({ scope, id, decision: await yes("dana") });
    expect(await spend(here, id, "one", { decision: await no("erik") })).toMatchObject({
      status: "stands",
      mine: false,
      decision: { approved: true, by: { id: "dana" } },
    });
    expect(await spend(here, id, "two", { decision: await yes("erik") })).toMatchObject({
      status: "ready",
      decision: { approved: true, by: { id: "dana" } },
    });
  });

  it("APR-20 tells the attempt that spent it so, and everybody else what stands", async () => {
    const here = world();
    const id = await file(here);
    await spend(here, id, "one", { decision: await yes("dana") });
    expect(await spend(here, id, "one", { decision: await yes("dana") })).toMatchObject({
      status: "stands",
      mine: true,
    });
    for (const decision of [undefined, await yes("dana"), await no("dana")]) {
      const more = decision === undefined ? {} : { decision };
      expect(await spend(here, id, "two", more)).toMatchObject({ status: "stands", mine: false });
    }
  });

  it("CASE-148 APR-15 refuses the requester where the rule excludes them, and anybody the rule does not name", async () => {
    const here = world();
    const id = await file(here, { rule: { excludeRequester: true, approvers: ["role:finance"] } });
    const settle = async (who: string) => spend(here, id, who, { decision: await yes(who) });
    await expect(settle("rita finance")).rejects.toThrow(withCode("actor-excluded"));
    await expect(settle("dana")).rejects.toThrow(withCode("actor-not-eligible"));
    expect(await here.records.read(scope, id)).toMatchObject({ state: "pending" });
    expect(await spend(here, id, "one", { decision: await yes("dana finance") })).toMatchObject({
      status: "ready",
    });
  });

  it("APR-14 records a vote that leaves the quorum open, and spends nothing", async () => {
    const here = world();
    const id = await file(here, { rule: { quorum: 2 } });
    const first = { decision: await yes("dana") };
    expect(await spend(here, id, "one", first)).toMatchObject({ status: "open", missing: 1 });
    expect(await here.records.read(scope, id)).toMatchObject({ state: "pending" });
    const again = await here.records.settle({
      scope,
      id,
      attemptId: "one",
      argumentsDigest,
      ...first,
    });
    expect(again).toEqual({ status: "open", missing: 1, writes: [] });
    const twice = await here.records.settle({
      scope,
      id,
      attemptId: "two",
      argumentsDigest,
      ...first,
    });
    expect(twice).toEqual({ status: "open", missing: 1, writes: [] });
    expect(await spend(here, id, "three", { decision: await yes("erik") })).toMatchObject({
      status: "ready",
      decision: { by: { id: "erik" } },
    });
  });

  it("APR-21 takes the outcome of a gate in the same commit, and only one an approval can have", async () => {
    const here = world();
    const id = await file(here);
    const brought = { decision: await yes("dana") };
    const wrong = spend(here, id, "one", { ...brought, outcome: "denied" });
    await expect(wrong).rejects.toThrow(withCode("outcome-invalid"));
    await spend(here, id, "one", { ...brought, outcome: "passed" });
    expect(await here.records.read(scope, id)).toMatchObject({ outcome: "passed" });
  });
});

describe("conclude", () => {
  it("APR-21 puts the outcome on a record once, for the attempt that consumed it", async () => {
    const here = world();
    const id = await file(here);
    await spend(here, id, "one", { decision: await yes("dana") });
    const conclude = (attemptId: string, outcome: Outcome) =>
      here.records.conclude({ scope, id, attemptId, outcome, note: "timed-out" });
    await expect(conclude("two", "executed")).rejects.toThrow(withCode("attempt-differs"));
    await expect(conclude("one", "expired")).rejects.toThrow(withCode("outcome-invalid"));
    await here.store.commit("end", await conclude("one", "failed"));
    expect(await here.records.read(scope, id)).toMatchObject({ outcome: "failed" });
    expect((await here.records.show(scope, id))?.endNote).toBe("timed-out");
    expect(await conclude("one", "failed")).toEqual([]);
    await expect(conclude("one", "executed")).rejects.toThrow(withCode("outcome-invalid"));
  });

  it("APR-21 gives a denied record its outcome at once, and no other", async () => {
    const here = world();
    const id = await file(here);
    await spend(here, id, "one", { decision: await no("dana") });
    expect(await here.records.read(scope, id)).toMatchObject({ outcome: "denied" });
    const conclude = here.records.conclude({ scope, id, attemptId: "one", outcome: "executed" });
    await expect(conclude).rejects.toThrow(withCode("outcome-invalid"));
  });

  it("CASE-062 APR-21 ends no call whose record is not spent, whatever result somebody hands in", async () => {
    const here = world();
    const id = await file(here);
    const conclude = () =>
      here.records.conclude({ scope, id, attemptId: "one", outcome: "executed" });
    await expect(conclude()).rejects.toThrow(withCode("attempt-differs"));
    await here.records.decide({ scope, id, decision: await yes("dana") });
    await expect(conclude()).rejects.toThrow(withCode("attempt-differs"));
    const unknown = here.records.conclude({
      scope,
      id: "x",
      attemptId: "one",
      outcome: "executed",
    });
    await expect(unknown).rejects.toThrow(withCode("approval-not-found"));
  });
});

describe("withdraw", () => {
  const withdraw = async (here: ReturnType<typeof world>, id: string, more: object = {}) =>
    here.store.commit(
      "end",
      await here.records.withdraw({ scope, id, attemptId: "end", reason: "cancelled", ...more }),
    );

  it("APR-20 APR-21 denies and consumes a pending record in one move, and leaves a consumed one", async () => {
    const here = world();
    const id = await file(here);
    await withdraw(here, id, { note: "policy-forbids" });
    expect(await here.records.read(scope, id)).toMatchObject({
      state: "consumed",
      outcome: "cancelled",
      decision: { approved: false, reason: "cancelled", by: { id: "system" } },
    });
    expect((await here.records.show(scope, id))?.endNote).toBe("policy-forbids");
    expect(await here.records.withdraw({ scope, id, attemptId: "x", reason: "cancelled" })).toEqual(
      [],
    );
  });

  it("APR-20 leaves a decision as it stands and marks it unused", async () => {
    const here = world();
    const id = await file(here);
    await here.records.decide({ scope, id, decision: await yes("dana") });
    await withdraw(here, id);
    expect(await here.records.read(scope, id)).toMatchObject({
      outcome: "unused",
      decision: { approved: true, by: { id: "dana" } },
    });
  });

  it("APR-13 expires nothing before its time", async () => {
    const here = world();
    const id = await file(here, { rule: { expiresInMs: 10 } });
    const early = withdraw(here, id, { reason: "expired" });
    await expect(early).rejects.toThrow(withCode("outcome-invalid"));
    here.clock.move(10);
    await withdraw(here, id, { reason: "expired" });
    expect(await here.records.read(scope, id)).toMatchObject({ outcome: "expired" });
  });

  it("APR-05 finds nothing to withdraw in another scope", async () => {
    const here = world();
    const id = await file(here);
    const other = withdraw(here, id, { scope: "other" });
    await expect(other).rejects.toThrow(withCode("approval-not-found"));
  });
});

describe("the deferred port", () => {
  it("CASE-050 APR-17 keeps one open record for 20 askings and counts them", async () => {
    const here = world();
    for (let at = 0; at < 20; at += 1) {
      await here.port.request(requestFor({}, { id: `apr-${at}` }), how());
    }
    expect((await here.records.list(scope)).items.map((item) => item.id)).toEqual(["apr-0"]);
    expect(await here.records.asked(scope, "apr-0")).toBe(20);
    expect(await here.records.asked(scope, "apr-1")).toBe(0);
  });

  it("APR-17 counts the askings of the record that stands, not of one before it", async () => {
    const here = world();
    const id = await file(here);
    await spend(here, id, "one", { decision: await yes("dana") });
    expect(await here.records.asked(scope, id)).toBe(1);
    const next = await file(here, {}, "apr-2");
    await here.port.request(requestFor(), how());
    expect([await here.records.asked(scope, id), await here.records.asked(scope, next)]).toEqual([
      0, 2,
    ]);
  });

  it("APR-17 leaves the count of a record alone that took the place of the one it counted for", async () => {
    let steal: (() => Promise<void>) | undefined;
    const real = memoryApprovalStore();
    const store: ApprovalStore = {
      ...real,
      async commit(...commit) {
        const first = steal;
        steal = undefined;
        await first?.();
        return real.commit(...commit);
      },
    };
    const here = world({ store });
    const id = await file(here);
    const other = new DeferredApproval(real, { keyring });
    steal = async () => {
      const writes = await other.records.withdraw({
        scope,
        id,
        attemptId: "x",
        reason: "cancelled",
      });
      await real.commit("x", writes);
      await other.request(requestFor({}, { id: "apr-2" }), how());
    };
    expect(await here.port.request(requestFor(), how())).toMatchObject({ approvalId: id });
    expect(await here.records.asked(scope, "apr-2")).toBe(1);
  });

  it("APR-12 finds a record by run, tool, argument key and call id, and by nothing less", async () => {
    const here = world();
    await file(here);
    const others = [
      { runId: "run-2" },
      { tool: "deploy" },
      { argumentKey: "other" },
      { callId: "other" },
      { scope: "other" },
    ];
    for (const [at, facts] of others.entries())
      expect(await file(here, facts, `o-${at}`)).toBe(`o-${at}`);
    expect(await file(here, { node: "elsewhere#1", rule: { quorum: 2 } }, "same")).toBe("apr-1");
  });

  it("APR-12 hands back what was shown where the call draws its arguments anew", async () => {
    const here = world();
    const id = await file(here, { arguments: { nonce: 1 } });
    const anew = requestFor({ arguments: { nonce: 2 } }, { id: "apr-2" });
    const shown = requestFor({ arguments: { nonce: 1 } });
    const recorded = { arguments: { nonce: 1 }, argumentsDigest: shown.argumentsDigest };
    expect(await here.port.request(anew, how())).toMatchObject({
      status: "pending",
      approvalId: id,
      recorded,
    });
    await here.records.decide({ scope, id, decision: await yes("dana") });
    expect(await here.port.request(anew, how())).toMatchObject({ status: "decided", recorded });
    const other = spend(here, id, "one", { argumentsDigest: anew.argumentsDigest });
    await expect(other).rejects.toThrow(withCode("arguments-differ"));
    expect(await spend(here, id, "one", { argumentsDigest: shown.argumentsDigest })).toMatchObject({
      status: "ready",
    });
  });

  it("APR-10 prepares once before it files, lets a failure pass, and files nothing then", async () => {
    const here = world();
    let prepared = 0;
    const failing = { ...how(), prepare: () => Promise.reject(new RangeError("unsealable")) };
    await expect(here.port.request(requestFor(), failing)).rejects.toThrow(RangeError);
    expect((await here.records.list(scope)).items).toEqual([]);
    const counting = { ...how(), prepare: () => void (prepared += 1) };
    await here.port.request(requestFor(), counting);
    await here.port.request(requestFor(), counting);
    expect(prepared).toBe(1);
    await here.records.decide({ scope, id: "apr-1", decision: await yes("dana") });
    await here.port.request(requestFor(), counting);
    expect(prepared).toBe(1);
  });

  it("APR-10 APR-17 prepares again where its filing was beaten, by a record that is spent by the next look", async () => {
    const here = world();
    const { store } = here;
    let prepared = 0;
    const slow = new DeferredApproval(
      {
        ...store,
        async commit(...late) {
          const other = requestFor({}, { id: "apr-2" });
          await here.port.request(other, how());
          await here.records.decide({ scope, id: "apr-2", decision: await yes("dana") });
          await spend(here, "apr-2", "one");
          return store.commit(...late);
        },
      },
      { keyring },
    );
    const leaving = () => {
      prepared += 1;
      if (prepared === 2) throw new RangeError("left");
    };
    const late = slow.request(requestFor(), { ...how(), prepare: leaving });
    await expect(late).rejects.toThrow(RangeError);
    const { items } = await here.records.list(scope);
    expect(items.map(({ id, state }) => [id, state])).toEqual([["apr-2", "consumed"]]);
  });

  it("APR-10 asks nobody where nobody waits any more", async () => {
    const here = world();
    const gone = { ...how(), signal: AbortSignal.abort() };
    expect(await here.port.request(requestFor(), gone)).toEqual({ status: "pending" });
    expect((await here.records.list(scope)).items).toEqual([]);
  });

  it("APR-25 refuses arguments that changed since they were asked for", async () => {
    const args = { cents: 1 };
    const request = requestFor({ arguments: args });
    args.cents = 1_000_000;
    const asked = world().port.request(request, how());
    await expect(asked).rejects.toThrow(withCode("arguments-differ"));
  });

  it("CASE-086 APR-18 denies the same tool with the same arguments for the rest of the run, and points to why", async () => {
    const here = world();
    const id = await file(here);
    const decision = deny({ by: await person("dana"), note: "never", forRun: true });
    await here.records.decide({ scope, id, decision });
    await spend(here, id, "one");
    const equal = requestFor({ callId: "a-later-call" }, { id: "apr-2" });
    expect(await here.port.request(equal, how())).toEqual({
      status: "decided",
      decision: {
        approved: false,
        by: { id: "dana", assurance: "verified" },
        at: 1_000_000,
        note: "never",
        forRun: true,
        coveredBy: id,
      },
    });
    expect((await here.records.list(scope)).items).toHaveLength(1);
    expect(await file(here, { argumentKey: "other", callId: "c3" }, "apr-3")).toBe("apr-3");
    expect(await file(here, { runId: "run-2", callId: "c4" }, "apr-4")).toBe("apr-4");
    expect(await file(here, { tool: "deploy", callId: "c5" }, "apr-5")).toBe("apr-5");
  });

  it("APR-18 answers a call from its own decision first, and ends a record that waits for the same", async () => {
    const here = world();
    const decided = await file(here, { callId: "decided" }, "decided");
    await file(here, { callId: "waiting" }, "waiting");
    const denied = await file(here, { callId: "denied" }, "denied");
    await here.records.decide({ scope, id: decided, decision: await yes("erik") });
    const decision = deny({ by: await person("dana"), forRun: true });
    await here.records.decide({ scope, id: denied, decision });
    const answer = (callId: string) =>
      here.port.request(requestFor({ callId }, { id: "x" }), how());
    expect(await answer("decided")).toMatchObject({
      approvalId: decided,
      decision: { approved: true },
    });
    expect(await answer("denied")).toMatchObject({
      approvalId: denied,
      decision: { approved: false },
    });
    const waiting = await answer("waiting");
    expect(waiting).toMatchObject({ decision: { approved: false, coveredBy: denied } });
    expect(waiting).not.toHaveProperty("approvalId");
    expect(await here.records.show(scope, "waiting")).toMatchObject({
      state: "consumed",
      outcome: "cancelled",
      endNote: "denied for the run by denied",
    });
    expect(await answer("waiting")).toEqual(waiting);
  });

  it("APR-18 reads again where somebody decides a record while the denial ends it", async () => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const real = memoryApprovalStore();
    const store: ApprovalStore = {
      ...real,
      async commit(...commit) {
        const first = meanwhile;
        meanwhile = undefined;
        await first?.();
        return real.commit(...commit);
      },
    };
    const here = world({ store });
    const denied = await file(here, { callId: "denied" }, "denied");
    await file(here, { callId: "waiting" }, "waiting");
    const decision = deny({ by: await person("dana"), forRun: true });
    await here.records.decide({ scope, id: denied, decision });
    const other = new DeferredApproval(real, { keyring });
    const late = await yes("erik");
    meanwhile = () => other.records.decide({ scope, id: "waiting", decision: late });
    const answer = await here.port.request(requestFor({ callId: "waiting" }), how());
    expect(answer).toMatchObject({ approvalId: "waiting", decision: { approved: true } });
  });

  it("APR-18 leaves a record as it was decided where it is its own denial that is found", async () => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const real = memoryApprovalStore();
    let lookups = 0;
    const store: ApprovalStore = {
      ...real,
      async find(...where) {
        lookups += 1;
        const first = lookups === 2 ? meanwhile : undefined; // the record was read, and its denial is looked for next
        await first?.();
        return real.find(...where);
      },
    };
    const here = world({ store });
    const id = await file(here);
    const other = new DeferredApproval(real, { keyring });
    const decision = deny({ by: await person("dana"), forRun: true });
    lookups = 0;
    meanwhile = () => other.records.decide({ scope, id, decision });
    const answer = await here.port.request(requestFor(), how());
    expect(answer).toMatchObject({ approvalId: id, decision: { approved: false, forRun: true } });
    expect(answer).not.toHaveProperty("decision.coveredBy");
    expect(await here.records.show(scope, id)).toMatchObject({ state: "decided" });
  });

  it("APR-18 covers the run also where the denial is settled at once, and not by a denial of this call alone", async () => {
    const here = world();
    const first = await file(here);
    await spend(here, first, "one", { decision: await no("dana") });
    const second = await file(here, { callId: "second" }, "apr-2");
    expect(second).toBe("apr-2");
    const decision = deny({ by: await person("dana"), forRun: true });
    await spend(here, second, "two", { decision });
    const third = await here.port.request(requestFor({ callId: "third" }), how());
    expect(third).toMatchObject({ status: "decided", decision: { coveredBy: "apr-2" } });
  });
});
