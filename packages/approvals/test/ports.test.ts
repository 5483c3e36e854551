// The ports that answer at once.
import { describe, expect, it } from "vitest";

import {
  approve,
  approveAll,
  askApproval,
  deny,
  denyAll,
  editedArguments,
  isApprovalError,
  rulesApproval,
  unverified,
  type Ask,
  type EditPort,
  type Question,
} from "../src/index.ts";
import { handClock, how, person, requestFor, world } from "./world.ts";

const clock = handClock(5_000);
const asked = (facts: object = {}) => requestFor(facts, { requestedAt: 4_000 });
const never = { ...how(), prepare: () => expect.unreachable("nothing is filed") };

describe("approve all and deny all", () => {
  it("APR-11 APR-10 answer at once in their actor's name, and prepare nothing", async () => {
    expect(await approveAll({ clock }).request(asked(), never)).toEqual({
      status: "decided",
      decision: { approved: true, by: { id: "approve-all", assurance: "none" }, at: 5_000 },
    });
    const by = await person("dana finance");
    expect(await denyAll({ by, note: "closed", clock }).request(asked(), never)).toEqual({
      status: "decided",
      decision: {
        approved: false,
        by: { id: "dana", assurance: "verified", roles: ["finance"] },
        at: 5_000,
        note: "closed",
      },
    });
    expect(await denyAll({ clock }).request(asked(), never)).toMatchObject({
      decision: { by: { id: "deny-all" } },
    });
    expect((await approveAll().request(asked(), never)).status).toBe("decided");
    expect((await denyAll().request(asked(), never)).status).toBe("decided");
  });

  it("APR-15 approve nothing that their actor may not approve alone", async () => {
    const finance = await person("dana finance");
    const rules = [
      [{ approvers: ["role:finance"] }, "decided"],
      [{ approvers: ["erik"] }, "pending"],
      [{ quorum: 2 }, "pending"],
      [{ quorum: 1 }, "decided"],
    ] as const;
    for (const [rule, status] of rules) {
      const byName = await approveAll({ by: finance }).request(asked({ rule }), never);
      expect(byName.status).toBe(status);
    }
    const byNobody = await approveAll().request(
      asked({ rule: { approvers: ["approve-all"] } }),
      never,
    );
    expect(byNobody).toEqual({ status: "pending" });
    const own = await approveAll({ by: await person("rita") }).request(
      asked({ rule: { excludeRequester: true } }),
      never,
    );
    expect(own).toEqual({ status: "pending" });
  });
});

describe("asking a function", () => {
  const edits: EditPort = {
    validate({ arguments: args }) {
      const { cents } = args as { cents: number };
      if (cents < 0) return { status: "invalid", issues: ["cents: too small"] };
      const rule = cents > 100 ? { rule: { approvers: ["erik"] } } : {};
      return { status: "valid", arguments: { cents, currency: "EUR" }, ...rule };
    },
  };

  /** Answers one after the other, and keeps what it was asked. */
  function script(...answers: readonly Awaited<ReturnType<Ask>>[]) {
    const questions: Question[] = [];
    const ask: Ask = (_request, question) => {
      questions.push(question);
      return answers[questions.length - 1];
    };
    return { ask, questions };
  }

  it("APR-11 takes the person's word, with note and denial for the run", async () => {
    const by = await person("dana");
    const yes = askApproval(() => approve({ by, note: "fine" }), { clock });
    expect(await yes.request(asked(), never)).toEqual({
      status: "decided",
      decision: {
        approved: true,
        by: { id: "dana", assurance: "verified" },
        at: 5_000,
        note: "fine",
      },
    });
    const no = askApproval(async () => deny({ by, forRun: true }), { clock });
    expect(await no.request(asked(), never)).toMatchObject({
      decision: { approved: false, forRun: true },
    });
    expect((await askApproval(() => deny({ by })).request(asked(), never)).status).toBe("decided");
  });

  it("APR-11 stays pending where nobody answers", async () => {
    expect(await askApproval(() => undefined).request(asked(), never)).toEqual({
      status: "pending",
    });
  });

  it("APR-10 APR-26 throws nothing but store-unavailable, with the cause", async () => {
    const broken = askApproval(() => Promise.reject(new RangeError("no terminal")));
    const error: unknown = await broken.request(asked(), never).catch((e: unknown) => e);
    expect(isApprovalError(error, "store-unavailable")).toBe(true);
    expect(error).toMatchObject({ cause: expect.any(RangeError) as RangeError });
  });

  it("APR-15 asks again for an answer that can't stand, and says why", async () => {
    const rule = { approvers: ["dana"] };
    const { ask, questions } = script(
      approve({ by: unverified("dana") }),
      deny({ by: await person("erik") }),
      { kind: "approve" } as never,
      approve({ by: await person("dana") }),
    );
    const answer = await askApproval(ask, { clock }).request(asked({ rule }), never);
    expect(answer).toMatchObject({ decision: { by: { id: "dana", assurance: "verified" } } });
    expect(questions.map((question) => question.problem?.code)).toEqual([
      undefined,
      "actor-unverified",
      "actor-not-eligible",
      "decision-invalid",
    ]);
    expect(questions[0]?.signal).toBe(never.signal);
  });

  it("APR-15 gives up after ten answers that can't stand, and stays pending", async () => {
    let count = 0;
    const stubborn = askApproval(() => {
      count += 1;
      return approve({ by: unverified("mallory") });
    });
    const answer = await stubborn.request(asked({ rule: { approvers: ["dana"] } }), never);
    expect([answer, count]).toEqual([{ status: "pending" }, 10]);
  });

  it("APR-14 stays pending with one vote of a quorum, and is denied by one denial", async () => {
    const by = await person("dana");
    const rule = { quorum: 2 };
    const yes = await askApproval(() => approve({ by })).request(asked({ rule }), never);
    expect(yes).toEqual({ status: "pending" });
    const no = await askApproval(() => deny({ by })).request(asked({ rule }), never);
    expect(no).toMatchObject({ status: "decided", decision: { approved: false } });
  });

  it("APR-13 counts an answer at the expiry as none: denied as expired", async () => {
    const by = await person("dana");
    const ask = askApproval(() => approve({ by }), { clock });
    const late = await ask.request(asked({ rule: { expiresInMs: 1_000 } }), never);
    expect(late).toMatchObject({ decision: { approved: false, reason: "expired", at: 5_000 } });
    const inTime = await ask.request(asked({ rule: { expiresInMs: 1_001 } }), never);
    expect(inTime).toMatchObject({ decision: { approved: true } });
  });

  it("APR-03 APR-16 checks edits, runs what validation made of them, and asks again for the rest", async () => {
    const by = await person("dana");
    const edit = (cents: number, tool = "issue_refund") =>
      approve({ by, edited: editedArguments(tool, { cents }) });
    const { ask, questions } = script(edit(-1), edit(1, "deploy"), edit(101), edit(100));
    const answer = await askApproval(ask, { edits, clock }).request(asked(), never);
    expect(answer).toMatchObject({
      decision: { approved: true, edited: { arguments: { cents: 100, currency: "EUR" } } },
    });
    expect(questions.map((question) => question.problem?.code)).toEqual([
      undefined,
      "edits-invalid",
      "edits-invalid",
      "edits-invalid",
    ]);
    expect(questions.map((question) => question.problem?.message)).toEqual([
      undefined,
      "the request apr-1 stays as it was: cents: too small",
      "the request apr-1 stays as it was: the edit is of another tool",
      "the request apr-1 stays as it was: what was edited needs the word of somebody else",
    ]);
    const blind = script(edit(1), undefined);
    await askApproval(blind.ask).request(asked(), never);
    expect(blind.questions[1]?.problem?.code).toBe("edits-not-checkable");
  });

  it("APR-03 passes on what the host's own check of edits throws", async () => {
    const by = await person("dana");
    const broken: EditPort = {
      validate() {
        throw new RangeError("no schema");
      },
    };
    const ask = () => approve({ by, edited: editedArguments("issue_refund", {}) });
    const port = askApproval(ask, { edits: broken });
    await expect(port.request(asked(), never)).rejects.toThrow(RangeError);
  });
});

describe("deciding by rules", () => {
  const fallback = denyAll({ note: "fallback", clock });
  const note = async (port: ReturnType<typeof rulesApproval>, facts: object = {}) => {
    const answer = await port.request(asked(facts), never);
    return answer.status === "decided" ? answer.decision.note : answer.status;
  };

  it("APR-11 takes the first rule that fits the tool and the arguments, else the fallback", async () => {
    const port = rulesApproval(
      [
        { tool: "deploy", verdict: "deny", note: "no deploys" },
        {
          tool: "issue_refund",
          when: (args) => (args as { cents: number }).cents <= 100,
          verdict: "approve",
          note: "small",
        },
        { when: (_args, request) => request.runId === "run-ask", verdict: "ask" },
        {
          when: (args) => (args as { cents: number }).cents <= 5_000,
          verdict: "approve",
          note: "middling",
        },
      ],
      { fallback, clock },
    );
    expect(await note(port, { tool: "deploy" })).toBe("no deploys");
    expect(await note(port, { arguments: { cents: 100 } })).toBe("small");
    expect(await note(port, { arguments: { cents: 101 } })).toBe("middling");
    expect(await note(port, { arguments: { cents: 101 }, runId: "run-ask" })).toBe("fallback");
    expect(await note(port, { arguments: { cents: 5_001 } })).toBe("fallback");
    expect(await port.request(asked({ arguments: { cents: 1 } }), never)).toMatchObject({
      decision: { approved: true, by: { id: "rules", assurance: "none" }, at: 5_000 },
    });
  });

  it("APR-15 approves by rule only what its actor may approve alone, and denies anything", async () => {
    const by = await person("robot automation");
    const yes = rulesApproval([{ verdict: "approve", note: "by rule" }], { fallback, by });
    expect(await note(yes, { rule: { approvers: ["role:automation"] } })).toBe("by rule");
    expect(await note(yes, { rule: { approvers: ["dana"] } })).toBe("fallback");
    expect(await note(yes, { rule: { quorum: 2 } })).toBe("fallback");
    expect(await note(yes, { rule: { quorum: 1 } })).toBe("by rule");
    const no = rulesApproval([{ verdict: "deny", note: "by rule" }], { fallback });
    expect(await note(no, { rule: { approvers: ["dana"] } })).toBe("by rule");
  });

  it("APR-11 asks the fallback where a rule throws, whatever later rules say", async () => {
    const port = rulesApproval(
      [
        {
          when() {
            throw new Error("broken");
          },
          verdict: "deny",
        },
        { verdict: "approve", note: "later" },
      ],
      { fallback },
    );
    expect(await note(port)).toBe("fallback");
  });

  it("APR-11 has the records of its fallback, and none where that has none", async () => {
    const deferred = world().port;
    expect(rulesApproval([], { fallback: deferred }).records).toBe(deferred.records);
    expect(rulesApproval([], { fallback })).not.toHaveProperty("records");
    const port = rulesApproval([], { fallback: deferred });
    expect(await port.request(asked(), how())).toEqual({ status: "pending", approvalId: "apr-1" });
  });
});
