// A store that fails, loses answers, or keeps moving: nothing is spent or told before it is known.
import { describe, expect, it } from "vitest";

import {
  isApprovalError,
  memoryApprovalStore,
  StoreUnavailable,
  type ApprovalStore,
  type CommitOutcome,
} from "../src/index.ts";
import { file, how, requestFor, scope, world, yes } from "./world.ts";

const withCode = (code: string) => expect.objectContaining({ code });

type Fault = "lose" | "drop" | "refuse" | undefined;

/** A store whose n-th commit fares as the n-th fault says. */
function faulty(faults: readonly Fault[], rest?: Fault) {
  const real = memoryApprovalStore();
  const attempts: string[] = [];
  const store: ApprovalStore = {
    ...real,
    async commit(attemptId, writes): Promise<CommitOutcome> {
      const fault = attempts.length < faults.length ? faults[attempts.length] : rest;
      attempts.push(attemptId);
      const lost: CommitOutcome = { status: "unknown", cause: new Error("connection reset") };
      if (fault === "drop") return lost;
      if (fault === "refuse") {
        return { status: "refused", write: 0, refusal: { because: "version", stands: undefined } };
      }
      const outcome = await real.commit(attemptId, writes);
      return fault === "lose" ? lost : outcome;
    },
  };
  return { store, attempts };
}

describe("a lost answer", () => {
  it.each(["lose", "drop"] as const)(
    "APR-26 of a filing is asked again under the same attempt (%s)",
    async (fault) => {
      const { store, attempts } = faulty([fault, fault]);
      const here = world({ store });
      await file(here);
      expect(attempts).toEqual(["id-1", "id-1", "id-1"]);
      expect((await here.records.list(scope)).items).toHaveLength(1);
    },
  );

  it.each(["lose", "drop"] as const)(
    "APR-26 of a decision is asked again under the same attempt (%s)",
    async (fault) => {
      const { store, attempts } = faulty([undefined, fault]);
      const here = world({ store });
      const id = await file(here);
      const result = await here.records.decide({
        scope,
        id,
        decision: await yes("dana"),
        attemptId: "d",
      });
      expect(result.status).toBe("decided");
      expect(attempts).toEqual(["id-1", "d", "d"]);
      expect(await here.records.verifyAudit(scope, id)).toMatchObject({ entries: [{}, {}] });
    },
  );

  it("APR-26 that stays lost is told as unknown, with the cause, and can be repeated later", async () => {
    const { store, attempts } = faulty([
      undefined,
      ...Array.from({ length: 6 }, () => "lose" as const),
    ]);
    const here = world({ store });
    const id = await file(here);
    const decision = await yes("dana");
    const lost = here.records.decide({ scope, id, decision, attemptId: "d" });
    await expect(lost).rejects.toMatchObject({
      code: "commit-unknown",
      cause: { message: "connection reset" },
    });
    expect(attempts).toHaveLength(7);
    expect(await here.records.decide({ scope, id, decision, attemptId: "d" })).toMatchObject({
      status: "decided",
    });
  });

  it("APR-10 APR-26 that stays lost at a filing is a store that is away", async () => {
    const { store } = faulty([], "lose");
    const here = world({ store });
    const error: unknown = await here.port.request(requestFor(), how()).catch((e: unknown) => e);
    expect(isApprovalError(error, "store-unavailable")).toBe(true);
    expect(error).toMatchObject({ cause: withCode("commit-unknown") });
  });
});

describe("a store that is away", () => {
  it("APR-26 is a typed error with its cause, from every operation", async () => {
    const away = () =>
      Promise.reject(new StoreUnavailable("no connection", new Error("ECONNREFUSED")));
    const real = memoryApprovalStore();
    const store: ApprovalStore = {
      home: real.home,
      durable: false,
      now: away,
      commit: away,
      get: away,
      find: away,
      list: away,
      history: away,
      changes: away,
      lastChange: away,
      wait: away,
    };
    const { port, records } = world({ store });
    const at = { scope, id: "apr-1", attemptId: "one" };
    const decision = await yes("dana");
    const tries: readonly Promise<unknown>[] = [
      port.request(requestFor(), how()),
      records.read(scope, "apr-1"),
      records.settle({ ...at, argumentsDigest: "d" }),
      records.withdraw({ ...at, reason: "cancelled" }),
      records.conclude({ ...at, outcome: "executed" }),
      records.decide({ ...at, decision }),
      records.sweep(scope),
      records.show(scope, "apr-1"),
      records.asked(scope, "apr-1"),
      records.list(scope),
      records.changes(scope),
      records.cursor(scope),
      records.verifyAudit(scope, "apr-1"),
    ];
    for (const tried of tries) {
      await expect(tried).rejects.toMatchObject({
        code: "store-unavailable",
        cause: { message: "ECONNREFUSED" },
      });
    }
  });

  it("APR-26 in the middle of a filing passes as it is", async () => {
    const real = memoryApprovalStore();
    const commit = () => Promise.reject(new StoreUnavailable("no connection"));
    const asked = world({ store: { ...real, commit } }).port.request(requestFor(), how());
    await expect(asked).rejects.toThrow(withCode("store-unavailable"));
  });
});

describe("a record that never rests", () => {
  it("APR-20 ends a decision, a filing and a count after a bound, not never", async () => {
    const { store, attempts } = faulty([undefined], "refuse");
    const here = world({ store });
    const id = await file(here);
    const decided = here.records.decide({ scope, id, decision: await yes("dana") });
    await expect(decided).rejects.toThrow(withCode("store-unavailable"));
    expect(attempts).toHaveLength(501);
    const counted = await here.port.request(requestFor(), how());
    expect(counted).toMatchObject({ status: "pending" });
    expect(attempts).toHaveLength(1_001);
    const filing = here.port.request(requestFor({ callId: "other" }), how());
    await expect(filing).rejects.toThrow(withCode("store-unavailable"));
  });

  it("APR-14 tries a late vote again that somebody moved under it, and tells what stands", async () => {
    const { store } = faulty([undefined, undefined, undefined, "refuse"]);
    const here = world({ store });
    const id = await file(here, { rule: { quorum: 2 } });
    for (const who of ["a", "b"])
      await here.records.decide({ scope, id, decision: await yes(who) });
    const late = here.records.decide({ scope, id, decision: await yes("c") });
    await expect(late).rejects.toThrow(withCode("approval-already-decided"));
    expect((await here.records.show(scope, id))?.lateVotes).toHaveLength(1);
  });
});
