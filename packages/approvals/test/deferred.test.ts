import { describe, expect, it } from "vitest";

import { ApprovalAlreadyDecided, isApprovalError } from "../src/index.ts";
import { file, how, no, refund, requestFor, scope, spend, world, yes } from "./world.ts";

describe("a deferred approval", () => {
  it("APR-11 APR-12 files a record, keeps it pending under its id, and hands the decision back unspent", async () => {
    const here = world();
    const first = await here.port.request(requestFor(), how());
    expect(first).toEqual({ status: "pending", approvalId: "apr-1" });
    const again = await here.port.request(requestFor({}, { id: "apr-2" }), how());
    expect(again).toEqual({ status: "pending", approvalId: "apr-1" });
    await here.records.decide({ scope, id: "apr-1", decision: await yes("dana") });
    const answer = await here.port.request(requestFor({}, { id: "apr-3" }), how());
    expect(answer).toMatchObject({
      status: "decided",
      approvalId: "apr-1",
      decision: { approved: true, by: { id: "dana", assurance: "verified" } },
    });
    expect(await here.records.read(scope, "apr-1")).toMatchObject({ state: "decided" });
  });

  it("APR-12 never answers again from a consumed record: the next asking files a new one", async () => {
    const here = world();
    const id = await file(here);
    await here.records.decide({ scope, id, decision: await yes("dana") });
    expect(await spend(here, id, "attempt-1")).toMatchObject({ status: "ready" });
    const answer = await here.port.request(requestFor({}, { id: "apr-2" }), how());
    expect(answer).toEqual({ status: "pending", approvalId: "apr-2" });
  });

  it("APR-20 lets one attempt spend a decision, repeats it for that attempt, and tells the others", async () => {
    const here = world();
    const id = await file(here);
    await here.records.decide({ scope, id, decision: await no("dana") });
    expect(await spend(here, id, "attempt-1")).toMatchObject({ status: "ready" });
    expect(await spend(here, id, "attempt-1")).toMatchObject({ status: "stands", mine: true });
    expect(await spend(here, id, "attempt-2")).toMatchObject({ status: "stands", mine: false });
    const late = here.records.decide({ scope, id, decision: await yes("erik") });
    await expect(late).rejects.toBeInstanceOf(ApprovalAlreadyDecided);
    await expect(late).rejects.toSatisfy((e) => isApprovalError(e, "approval-already-decided"));
  });

  it("APR-13 counts an expired record as denied, swept or not", async () => {
    const here = world();
    const id = await file(here, { rule: { expiresInMs: 1_000 } });
    here.clock.move(1_000);
    const answer = await here.port.request(requestFor(), how());
    expect(answer).toMatchObject({
      status: "decided",
      decision: { approved: false, reason: "expired" },
    });
    expect(await here.records.sweep(scope)).toEqual([id]);
    expect(await here.records.read(scope, id)).toMatchObject({
      state: "consumed",
      outcome: "expired",
    });
  });

  it("APR-25 refuses to spend a record for other arguments than its own", async () => {
    const here = world();
    const id = await file(here);
    const other = requestFor({ arguments: { ...refund, cents: 1 } }).argumentsDigest;
    const plan = spend(here, id, "attempt-1", {
      argumentsDigest: other,
      decision: await yes("dana"),
    });
    await expect(plan).rejects.toSatisfy((e) => isApprovalError(e, "arguments-differ"));
  });
});
