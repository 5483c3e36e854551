// Edited arguments: checked before anything is spent, kept beside what was asked, put through the rule again.
import { createSealer } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";

import {
  approve,
  deny,
  diffArguments,
  editedArguments,
  isApprovalError,
  type EditPort,
  type EditVerdict,
} from "../src/index.ts";
import { ruleOfEdit } from "../src/edits.ts";
import { file, how, keyring, person, requestFor, scope, spend, world, yes } from "./world.ts";

const withCode = (code: string) => expect.objectContaining({ code });

/** Cents over 0; above 10,000 finance has to say yes, above 100,000 two of them. */
const edits: EditPort = {
  validate({ arguments: args }): EditVerdict {
    const { cents, ...rest } = args as { cents: unknown };
    if (typeof cents !== "number" || cents <= 0) {
      return { status: "invalid", issues: ["cents: has to be positive"] };
    }
    const effective = { ...rest, cents, currency: "EUR" };
    if (cents <= 10_000) return { status: "valid", arguments: effective };
    const quorum = cents > 100_000 ? 2 : 1;
    return {
      status: "valid",
      arguments: effective,
      rule: { approvers: ["role:finance"], quorum, expiresInMs: 500 },
    };
  },
};

const edit = async (who: string, args: unknown, tool = "issue_refund") =>
  approve({ by: await person(who), edited: editedArguments(tool, args) });

describe("an edit", () => {
  it("APR-16 keeps what was proposed, what was decided and what runs, and shows them as a diff", async () => {
    const here = world({ edits });
    const id = await file(here);
    const decision = await edit("dana", { orderId: "A-17", cents: 100 });
    expect(await here.records.decide({ scope, id, decision })).toMatchObject({
      status: "decided",
      decision: { edited: { arguments: { orderId: "A-17", cents: 100, currency: "EUR" } } },
    });
    const view = await here.records.show(scope, id);
    const sets = view?.arguments();
    expect(sets).toEqual({
      proposed: { orderId: "A-17", cents: 4_200 },
      decided: { orderId: "A-17", cents: 100 },
      effective: { orderId: "A-17", cents: 100, currency: "EUR" },
    });
    expect(diffArguments(sets?.proposed, sets?.effective)).toEqual([
      { path: "cents", before: 4_200, after: 100 },
      { path: "currency", after: "EUR" },
    ]);
    expect(view?.decision?.edited).toBe(true);
  });

  it("APR-16 runs the edited set, whichever way it is settled", async () => {
    const decision = await edit("dana", { cents: 100 });
    const effective = { edited: { arguments: { cents: 100, currency: "EUR" } } };
    const before = world({ edits });
    await file(before);
    await before.records.decide({ scope, id: "apr-1", decision });
    expect(await before.port.request(requestFor(), how())).toMatchObject({ decision: effective });
    const { argumentsDigest } = requestFor({ arguments: effective.edited.arguments });
    expect(await spend(before, "apr-1", "one", { argumentsDigest })).toMatchObject({
      status: "ready",
      decision: effective,
    });
    const atOnce = world({ edits });
    await file(atOnce);
    expect(await spend(atOnce, "apr-1", "one", { decision })).toMatchObject({
      status: "ready",
      decision: effective,
    });
  });

  it("R099 APR-03 is refused before anything is spent: invalid, of another tool, unsealable, too large, uncheckable", async () => {
    const here = world({ edits });
    const id = await file(here);
    const before = await here.store.get(scope, id);
    const tries: readonly (readonly [unknown, string, string])[] = [
      [{ cents: -1 }, "issue_refund", "edits-invalid"],
      [{ cents: "100" }, "issue_refund", "edits-invalid"],
      [{ cents: 1 }, "deploy", "edits-invalid"],
      [{ cents: 1, done: () => undefined }, "issue_refund", "state-not-sealable"],
      [{ cents: 1, note: "x".repeat(17 * 2 ** 20) }, "issue_refund", "state-not-sealable"],
    ];
    for (const [args, tool, code] of tries) {
      const decision = await edit("dana", args, tool);
      const decided = here.records.decide({ scope, id, decision });
      await expect(decided).rejects.toThrow(withCode(code));
      await expect(spend(here, id, "one", { decision })).rejects.toThrow(withCode(code));
    }
    const blind = world({ store: here.store });
    const decision = await edit("dana", { cents: 1 });
    const unchecked = blind.records.decide({ scope, id, decision });
    await expect(unchecked).rejects.toThrow(withCode("edits-not-checkable"));
    expect(await here.store.get(scope, id)).toBe(before);
  });

  it("APR-03 tells the decider what is wrong, without the values", async () => {
    const here = world({ edits });
    const id = await file(here);
    const decision = await edit("dana", { cents: -987 });
    const error: unknown = await here.records
      .decide({ scope, id, decision })
      .catch((e: unknown) => e);
    expect(isApprovalError(error, "edits-invalid") && error.message).toBe(
      "the approval apr-1 stays as it was: the edit is refused: cents: has to be positive",
    );
  });

  it("APR-03 is checked again at the settle: what is invalid by then is not spent", async () => {
    let closed = false;
    const closing: EditPort = {
      validate: (what) =>
        closed ? { status: "invalid", issues: ["closed"] } : edits.validate(what),
    };
    const here = world({ edits: closing });
    const id = await file(here);
    await here.records.decide({ scope, id, decision: await edit("dana", { cents: 100 }) });
    closed = true;
    await expect(spend(here, id, "one")).rejects.toThrow(withCode("edits-invalid"));
    expect(await here.records.read(scope, id)).toMatchObject({ state: "decided" });
    const blind = world({ store: here.store });
    await expect(spend(blind, id, "one")).rejects.toThrow(withCode("edits-not-checkable"));
    closed = false;
    expect(await spend(here, id, "one")).toMatchObject({ status: "ready" });
  });

  it("APR-03 is what it was when it was handed over, whatever becomes of the object", async () => {
    const args = { cents: 100 };
    const swapping: EditPort = {
      validate(what) {
        args.cents = 9_999;
        return edits.validate(what);
      },
    };
    const here = world({ edits: swapping });
    const id = await file(here);
    const decision = await edit("dana", args);
    expect(await here.records.decide({ scope, id, decision })).toMatchObject({
      decision: { edited: { arguments: { cents: 100 } } },
    });
  });

  it("APR-20 counts as the same decision only with the same edit", async () => {
    const here = world({ edits });
    const id = await file(here);
    await here.records.decide({ scope, id, decision: await edit("dana", { cents: 100 }) });
    const other = here.records.decide({ scope, id, decision: await edit("dana", { cents: 101 }) });
    await expect(other).rejects.toThrow(withCode("approval-already-decided"));
    const again = await here.records.decide({
      scope,
      id,
      decision: await edit("dana", { cents: 100 }),
    });
    expect(again.status).toBe("already");
    for (const decision of [await edit("dana", { cents: 101 }), await yes("dana")]) {
      expect(await spend(here, id, "one", { decision })).toMatchObject({ status: "stands" });
    }
    const decision = await edit("erik", { cents: 100 });
    expect(await spend(here, id, "one", { decision })).toMatchObject({ status: "ready" });
  });

  it("CASE-068 APR-16 that needs somebody else closes the record and asks anew, linked both ways", async () => {
    const here = world({ edits });
    const id = await file(here, { rule: { title: "Refund" } });
    const decision = await edit("dana", { cents: 20_000 });
    const result = await here.records.decide({ scope, id, decision, attemptId: "by-dana" });
    if (result.status !== "superseded") throw new Error(result.status);
    const old = await here.records.show(scope, id);
    const next = await here.records.show(scope, result.by);
    expect(old).toMatchObject({ state: "consumed", outcome: "superseded", replacedBy: result.by });
    expect(next).toMatchObject({
      state: "pending",
      replaces: id,
      rule: { title: "Refund", approvers: ["role:finance"], expiresInMs: 500 },
      expiresAt: 1_000_500,
      votes: [],
    });
    expect(next?.arguments().proposed).toEqual({ cents: 20_000, currency: "EUR" });
    expect(await here.records.decide({ scope, id, decision, attemptId: "by-dana" })).toEqual(
      result,
    );
    expect(await here.records.verifyAudit(scope, id)).toMatchObject({
      status: "whole",
      entries: [{ kind: "requested" }, { kind: "withdrawn", link: result.by, by: { id: "dana" } }],
    });
    expect((await here.records.verifyAudit(scope, result.by)).status).toBe("whole");
    const told = (await here.records.changes(scope)).events.map(({ type, link }) => [type, link]);
    expect(told).toEqual([
      ["approval.requested", undefined],
      ["approval.withdrawn", result.by],
      ["approval.requested", id],
    ]);
    // The call finds the new record, and runs with the edit once finance has said yes.
    const asked = await here.port.request(requestFor({}, { id: "x" }), how());
    expect(asked).toMatchObject({ status: "pending", approvalId: result.by });
    const late = here.records.decide({ scope, id, decision: await yes("erik") });
    await expect(late).rejects.toThrow(withCode("approval-already-decided"));
    const erik = await yes("erik finance");
    await here.records.decide({ scope, id: result.by, decision: erik });
    const effective = { edited: { arguments: { cents: 20_000, currency: "EUR" } } };
    expect(await here.port.request(requestFor(), how())).toMatchObject({
      status: "decided",
      approvalId: result.by,
      decision: effective,
    });
    // Whoever still knows the old id is led to the one that stands.
    expect(await here.records.read(scope, id)).toMatchObject({ state: "decided" });
    expect(await spend(here, id, "one")).toMatchObject({ status: "ready", decision: effective });
    expect(await here.records.show(scope, result.by)).toMatchObject({ state: "consumed" });
  });

  it("APR-16 is superseded at a settle too: the call waits on, and a repetition says the same", async () => {
    const here = world({ edits });
    const id = await file(here);
    const decision = await edit("dana", { cents: 20_000 });
    const plan = await spend(here, id, "one", { decision });
    if (plan.status !== "open") throw new Error(plan.status);
    const supersededBy = "supersededBy" in plan ? plan.supersededBy : undefined;
    expect(supersededBy).toBeTypeOf("string");
    expect(await spend(here, id, "one", { decision })).toEqual({
      status: "open",
      missing: 1,
      writes: [],
      supersededBy,
    });
    expect(await spend(here, id, "two", { decision })).toMatchObject({
      status: "stands",
      mine: false,
      decision: { approved: false, reason: "superseded" },
    });
    expect(await spend(here, id, "three")).toEqual({ status: "pending" });
  });

  it("APR-16 APR-26 delivered twice at once opens one record, and both are told which", async () => {
    const here = world({ edits });
    const id = await file(here);
    const decision = await edit("dana", { cents: 20_000 });
    const deliver = () => here.records.decide({ scope, id, decision, attemptId: "one" });
    const [first, second] = await Promise.all([deliver(), deliver()]);
    expect(first).toMatchObject({ status: "superseded" });
    expect(second).toEqual(first);
    const pending = await here.records.list(scope, { filter: { state: "pending" } });
    expect(pending.items.map((item) => item.id)).toEqual(
      first.status === "superseded" && [first.by],
    );
  });

  it("APR-16 counts the editor's own word where the new rule lets them, and no earlier vote", async () => {
    const here = world({ edits });
    const id = await file(here, { rule: { quorum: 2 } });
    await here.records.decide({ scope, id, decision: await yes("anna finance") });
    const result = await here.records.decide({
      scope,
      id,
      decision: await edit("dana finance", { cents: 200_000 }),
    });
    if (result.status !== "superseded") throw new Error(result.status);
    const next = await here.records.show(scope, result.by);
    expect(next?.votes.map((vote) => vote.by.id)).toEqual(["dana"]);
    expect(next?.missing).toBe(1);
    const decided = await here.records.decide({
      scope,
      id: result.by,
      decision: await yes("anna finance"),
    });
    expect(decided.status).toBe("decided");
    expect((await here.records.verifyAudit(scope, result.by)).status).toBe("whole");
  });

  it("APR-16 needs as many people as before, whatever the edited set asks", async () => {
    const here = world({ edits });
    const id = await file(here, { rule: { quorum: 2 } });
    const result = await here.records.decide({
      scope,
      id,
      decision: await edit("dana", { cents: 1 }),
    });
    expect(result.status).toBe("superseded");
    expect(ruleOfEdit({ quorum: 3, excludeRequester: true }, { quorum: 2, title: "t" })).toEqual({
      quorum: 3,
      excludeRequester: true,
      title: "t",
    });
    expect(ruleOfEdit({}, { excludeRequester: true })).toMatchObject({ excludeRequester: true });
    const own = { quorum: 2 };
    expect(ruleOfEdit(own, undefined)).toBe(own);
  });

  it("APR-16 may be edited again, and the last record stands for all before it", async () => {
    const here = world({ edits });
    const first = await file(here);
    let id = first;
    for (const [who, cents] of [
      ["dana", 20_000],
      ["erik finance", 200_000],
    ] as const) {
      const decision = await edit(who, { cents });
      const result = await here.records.decide({ scope, id, decision });
      if (result.status !== "superseded") throw new Error(result.status);
      id = result.by;
    }
    expect(await here.records.read(scope, first)).toMatchObject({ state: "pending" });
    await here.records.decide({ scope, id, decision: await yes("anna finance") });
    expect(await spend(here, first, "one")).toMatchObject({
      status: "ready",
      decision: { approved: true, edited: { arguments: { cents: 200_000 } } },
    });
  });

  it("APR-16 is followed over 32 replacements, and past that what was asked stands as superseded", async () => {
    const asking: EditPort = {
      validate: ({ arguments: args }) => ({
        status: "valid",
        arguments: args,
        rule: { quorum: 2 },
      }),
    };
    const here = world({ edits: asking });
    const first = await file(here);
    let id = first;
    for (let replacements = 1; replacements <= 33; replacements += 1) {
      const decision = await edit("dana", { cents: replacements });
      const result = await here.records.decide({ scope, id, decision });
      if (result.status !== "superseded") throw new Error(result.status);
      id = result.by;
      const state = replacements < 33 ? "pending" : "consumed";
      expect((await here.records.read(scope, first))?.state).toBe(state);
    }
    expect(await spend(here, first, "one")).toMatchObject({
      status: "stands",
      decision: { approved: false, reason: "superseded" },
    });
  });

  it("APR-16 of a replaced record that is denied denies the call, without an edit", async () => {
    const here = world({ edits });
    const id = await file(here);
    const result = await here.records.decide({
      scope,
      id,
      decision: await edit("dana", { cents: 20_000 }),
    });
    if (result.status !== "superseded") throw new Error(result.status);
    const decision = deny({ by: await person("erik finance") });
    await here.records.decide({ scope, id: result.by, decision });
    const plan = await spend(here, id, "one");
    expect(plan).toMatchObject({ status: "ready", decision: { approved: false } });
    expect(plan).not.toHaveProperty("decision.edited");
  });

  it("APR-13 APR-16 does not close a record at or after its expiry", async () => {
    const here = world({ edits });
    const id = await file(here, { rule: { expiresInMs: 10 } });
    const decision = await edit("dana", { cents: 20_000 });
    const { argumentsDigest } = requestFor();
    const plan = await here.records.settle({
      scope,
      id,
      attemptId: "one",
      argumentsDigest,
      decision,
    });
    if (plan.status !== "open") throw new Error(plan.status);
    here.clock.move(10);
    expect(await here.store.commit("one", plan.writes)).toMatchObject({
      refusal: { because: "late" },
    });
    const late = here.records.decide({ scope, id, decision });
    await expect(late).rejects.toThrow(withCode("approval-expired"));
  });

  it("APR-25 reads arguments of registered classes back through the tool's schema", async () => {
    const sealer = createSealer();
    const read: unknown[] = [];
    const here = world({
      edits,
      sealer: {
        encode: (value) => sealer.encode(value),
        digest: (value) => sealer.digest(value),
        decode(text, options) {
          read.push(options?.schema);
          return sealer.decode(text);
        },
      },
      schema: (tool) => (tool === "issue_refund" ? "schema of issue_refund" : undefined),
    });
    const id = await file(here);
    await here.records.decide({ scope, id, decision: await yes("dana") });
    expect(read).toEqual([]);
    (await here.records.show(scope, id))?.arguments();
    expect(new Set(read)).toEqual(new Set(["schema of issue_refund"]));
    expect(keyring.ephemeral).toBe(false);
  });
});

describe("a diff of arguments", () => {
  it("APR-16 names each place where two sets differ, nested ones by path", () => {
    const before = { a: 1, b: { c: [1, 2, { d: "x" }], gone: true }, same: [1], kind: [] };
    const after = { a: 1n, b: { c: [1, 3, { d: "y" }, 4] }, same: [1], kind: {}, fresh: undefined };
    expect(diffArguments(before, after)).toEqual([
      { path: "a", before: 1, after: 1n },
      { path: "b.c[1]", before: 2, after: 3 },
      { path: "b.c[2].d", before: "x", after: "y" },
      { path: "b.c[3]", after: 4 },
      { path: "b.gone", before: true },
      { path: "kind", before: [], after: {} },
      { path: "fresh", after: undefined },
    ]);
  });

  it("APR-16 is empty for equal sets, and tells whole values apart", () => {
    expect(
      diffArguments({ when: new Date(5), n: Number.NaN }, { n: Number.NaN, when: new Date(5) }),
    ).toEqual([]);
    expect(diffArguments(1, "1")).toEqual([{ path: "", before: 1, after: "1" }]);
    expect(diffArguments(null, {})).toEqual([{ path: "", before: null, after: {} }]);
    expect(diffArguments(Object.create(null), {})).toEqual([]);
    expect(diffArguments([1], [])).toEqual([{ path: "[0]", before: 1 }]);
  });
});
