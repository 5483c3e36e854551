// Who may decide: only somebody whom the host's identity port made, and whom the rule lets.
import { describe, expect, expectTypeOf, it } from "vitest";

import {
  approve,
  approveAll,
  checkedRule,
  decisionTerms,
  deny,
  editedArguments,
  identityPort,
  ineligible,
  isActor,
  isDecision,
  unverified,
  type Actor,
  type ActorRef,
  type ApprovalRule,
  type Approve,
  type Decision,
  type IdentityPort,
} from "../src/index.ts";
import { assertActor } from "../src/actor.ts";
import { file, how, person, requestFor, scope, world } from "./world.ts";

const withCode = (code: string) => expect.objectContaining({ code });

describe("an actor", () => {
  it("APR-15 is made by the host's identity port, frozen, with its roles", async () => {
    const dana = await person("dana finance ops");
    expect(dana).toEqual({ id: "dana", assurance: "verified", roles: ["finance", "ops"] });
    expect(isActor(dana)).toBe(true);
    expect(Object.isFrozen(dana)).toBe(true);
    expect(Object.isFrozen(dana.roles)).toBe(true);
  });

  it("APR-15 APR-22 never has the id of the library itself, whoever vouches for it", async () => {
    await expect(person("system finance")).rejects.toThrow(withCode("actor-unknown"));
    expect(() => unverified("system")).toThrow(withCode("actor-unknown"));
    expect(unverified("systems").id).toBe("systems");
  });

  it("CASE-156 APR-15 can't be copied from data: a look-alike does not compile and is refused", async () => {
    const dana = await person("dana");
    const fakes: readonly unknown[] = [
      { id: "dana", assurance: "verified" },
      { ...dana },
      structuredClone(dana),
      JSON.parse(JSON.stringify(dana)),
      Object.create(dana),
      new Proxy(dana, {}),
      "dana",
      null,
      undefined,
    ];
    for (const fake of fakes) {
      expect(isActor(fake)).toBe(false);
      expect(() => approve({ by: fake as Actor })).toThrow(withCode("actor-not-authentic"));
      expect(() => deny({ by: fake as Actor })).toThrow(withCode("actor-not-authentic"));
      expect(() => assertActor(fake)).toThrow(withCode("actor-not-authentic"));
    }
    // @ts-expect-error: an actor is not told by its shape
    expect(() => approve({ by: { id: "dana", assurance: "none" } })).toThrow(/identity port/);
    // @ts-expect-error: what a record keeps of an actor is no actor
    expect(() => approve({ by: dana as ActorRef })).not.toThrow();
    expectTypeOf<ActorRef>().not.toExtend<Actor>();
    expectTypeOf<Actor>().toExtend<ActorRef>();
  });

  it("CASE-154 APR-15 is refused for a credential that belongs to nobody, and never guessed", async () => {
    await expect(person("nobody")).rejects.toThrow(withCode("actor-unknown"));
    for (const id of ["", "role:finance", "x".repeat(201), "a\0b", "\uD800", 7, undefined]) {
      const port: IdentityPort = identityPort(() => ({ id: id as string }));
      await expect(port.authenticate("x")).rejects.toThrow(withCode("actor-unknown"));
    }
    for (const roles of ["finance", [""], [7], Array.from({ length: 101 }, () => "r")]) {
      const port = identityPort(() => ({ id: "dana", roles: roles as string[] }));
      await expect(port.authenticate("x")).rejects.toThrow(withCode("actor-unknown"));
    }
    const nothing = identityPort(() => null as never);
    await expect(nothing.authenticate("x")).rejects.toThrow(withCode("actor-unknown"));
    expect(() => unverified("")).toThrow(withCode("actor-unknown"));
  });

  it("APR-15 passes on what the host's own look-up throws", async () => {
    const down = identityPort(() => {
      throw new RangeError("the directory is away");
    });
    await expect(down.authenticate("x")).rejects.toThrow(RangeError);
  });

  it("APR-15 is of assurance none on somebody's word", () => {
    expect(unverified("dana")).toEqual({ id: "dana", assurance: "none" });
  });

  it("APR-15 has no roles but its own, whatever is put on Object.prototype", async () => {
    try {
      Object.assign(Object.prototype, { roles: ["finance"] });
      const mallory = await identityPort(() => ({ id: "mallory" })).authenticate("x");
      expect(Object.hasOwn(mallory, "roles")).toBe(false);
      const rule = { approvers: ["role:finance"] };
      expect(ineligible(rule, undefined, mallory)).toBe("actor-not-eligible");
    } finally {
      Reflect.deleteProperty(Object.prototype, "roles");
    }
  });

  it("APR-15 is known to a second copy of the package in the same process", async () => {
    const registry: unknown = Reflect.get(globalThis, Symbol.for("@holdpoint/approvals.actors"));
    expect(registry).toBeInstanceOf(WeakSet);
    expect((registry as WeakSet<object>).has(await person("dana"))).toBe(true);
  });
});

describe("a decision", () => {
  it("APR-03 carries actor, note and verdict, and is told by its making alone", async () => {
    const by = await person("dana finance");
    const yes = approve({ by, note: "fine" });
    const no = deny({ by, forRun: true });
    expect(decisionTerms(yes)).toEqual({
      approved: true,
      by: { id: "dana", assurance: "verified", roles: ["finance"] },
      note: "fine",
      edited: undefined,
      forRun: false,
    });
    expect(decisionTerms(no)).toMatchObject({ approved: false, note: undefined, forRun: true });
    for (const fake of [{ kind: "approve" }, { ...yes }, structuredClone(yes), null, "approve"]) {
      expect(isDecision(fake)).toBe(false);
      expect(() => decisionTerms(fake as Decision)).toThrow(withCode("decision-invalid"));
    }
    expect([isDecision(yes), isDecision(no)]).toEqual([true, true]);
    expectTypeOf<{ kind: "approve" }>().not.toExtend<Approve>();
    expectTypeOf(no).not.toExtend<Approve>();
  });

  it("APR-03 refuses a note that is no text or too long, and edits of unknown making", async () => {
    const by = await person("dana");
    expect(() => approve({ by, note: "x".repeat(4_001) })).toThrow(withCode("decision-invalid"));
    expect(() => deny({ by, note: 7 as never })).toThrow(withCode("decision-invalid"));
    expect(() => approve({ by, note: "x".repeat(4_000) })).not.toThrow();
    const edited = { tool: "issue_refund", arguments: {} } as never;
    expect(() => approve({ by, edited })).toThrow(withCode("decision-invalid"));
  });

  it("APR-03 edits for one tool, by its name, and shows none of the arguments", () => {
    const edited = editedArguments("issue_refund", { card: "canary-3" });
    expect(JSON.stringify(edited)).toBe('{"tool":"issue_refund"}');
    for (const tool of ["", "a\0b", 7]) {
      expect(() => editedArguments(tool as string, {})).toThrow(withCode("decision-invalid"));
    }
  });

  it("APR-15 stays a denial whatever is put on Object.prototype", async () => {
    const polluted = { approved: true, edited: { arguments: 1 }, kind: "approve" };
    const by = await person("dana");
    try {
      Object.assign(Object.prototype, polluted);
      const here = world();
      const id = await file(here);
      const result = await here.records.decide({ scope, id, decision: deny({ by }) });
      expect(Object.getOwnPropertyDescriptor(result, "decision")?.value).toMatchObject({
        approved: false,
      });
      const plain = await approveAll({ by }).request(requestFor(), how());
      if (plain.status !== "decided") throw new Error(plain.status);
      expect(Object.keys(plain.decision)).toEqual(["approved", "by", "at"]);
    } finally {
      for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name);
    }
  });
});

describe("a rule", () => {
  const rita: ActorRef = { id: "rita", assurance: "verified" };
  const dana: ActorRef = { id: "dana", assurance: "verified", roles: ["finance"] };
  const word: ActorRef = { id: "dana", assurance: "none" };
  const rows: readonly (readonly [string, ApprovalRule, ActorRef, string | undefined])[] = [
    ["no rule, somebody's word", {}, word, undefined],
    ["no rule, a verified person", {}, dana, undefined],
    ["a quorum of one, somebody's word", { quorum: 1 }, word, undefined],
    ["a quorum, somebody's word", { quorum: 2 }, word, "actor-unverified"],
    ["approvers, somebody's word in one's name", { approvers: ["dana"] }, word, "actor-unverified"],
    ["four eyes, somebody's word", { excludeRequester: true }, word, "actor-unverified"],
    ["four eyes not asked for, somebody's word", { excludeRequester: false }, word, undefined],
    ["four eyes, the requester", { excludeRequester: true }, rita, "actor-excluded"],
    ["four eyes, somebody else", { excludeRequester: true }, dana, undefined],
    ["approvers by id", { approvers: ["erik", "dana"] }, dana, undefined],
    ["approvers by role", { approvers: ["role:finance"] }, dana, undefined],
    ["approvers by another role", { approvers: ["role:ops"] }, dana, "actor-not-eligible"],
    ["a role named as an id", { approvers: ["finance"] }, dana, "actor-not-eligible"],
    ["approvers that name others", { approvers: ["erik"] }, rita, "actor-not-eligible"],
  ];

  it.each(rows)("APR-15 judges %s", (_name, rule, actor, expected) => {
    expect(ineligible(rule, rita, actor)).toBe(expected);
  });

  it("CASE-154 APR-15 excludes everybody where the requester to exclude is unknown", () => {
    expect(ineligible({ excludeRequester: true }, undefined, dana)).toBe("actor-excluded");
  });

  it("APR-14 is copied, frozen, and its doubles dropped", () => {
    const approvers = ["dana", "dana", "erik"];
    const rule = checkedRule({ approvers, quorum: 2, expiresInMs: 1, useWithinMs: 1, title: "t" });
    approvers.push("mallory");
    expect(rule.approvers).toEqual(["dana", "erik"]);
    expect([rule, rule.approvers].map(Object.isFrozen)).toEqual([true, true]);
    expect(checkedRule({ reason: undefined } as never)).toEqual({});
    const texts = { title: "x".repeat(4_000), reason: "because", excludeRequester: false };
    expect(checkedRule(texts)).toEqual(texts);
  });

  const wrong: readonly unknown[] = [
    { approvers: [] },
    { approvers: "dana" },
    { approvers: [""] },
    { approvers: ["role:"] },
    { approvers: [7] },
    { approvers: Array.from({ length: 101 }, (_, at) => `p${at}`) },
    { approvers: ["dana", "dana"], quorum: 2 },
    { quorum: 0 },
    { quorum: 1.5 },
    { quorum: 101 },
    { quorum: "2" },
    { excludeRequester: "yes" },
    { expiresInMs: 0 },
    { expiresInMs: Number.POSITIVE_INFINITY },
    { expiresInMs: 9_000_000_000_001 },
    { useWithinMs: -1 },
    { title: 7 },
    { reason: "x".repeat(4_001) },
    { approver: ["dana"] },
  ];
  it.each(wrong)("APR-14 is refused where it could not be kept: %j", (rule) => {
    expect(() => checkedRule(rule as ApprovalRule)).toThrow(withCode("rule-invalid"));
  });

  it("CASE-160 APR-14 takes a quorum over a role, whose people may grow while it waits", async () => {
    expect(checkedRule({ approvers: ["role:finance"], quorum: 2 })).toMatchObject({ quorum: 2 });
  });
});
