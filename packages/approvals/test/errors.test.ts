// Errors: known by mark and code, silent about arguments and keys.
import { inspect } from "node:util";

import { createKeyring } from "@holdpoint/seal";
import { aesGcm } from "@holdpoint/seal/node";
import { describe, expect, it, vi } from "vitest";

import {
  ApprovalAlreadyDecided,
  ApprovalError,
  ApprovalPending,
  approve,
  DeferredApproval,
  deny,
  editedArguments,
  isActor,
  isApprovalError,
  memoryApprovalStore,
  StoreUnavailable,
  type EditPort,
} from "../src/index.ts";
import { file, how, keyring, no, person, requestFor, scope, spend, world, yes } from "./world.ts";

describe("an error", () => {
  it("APR-26 keeps code, ids and cause", () => {
    const cause = new Error("reset");
    const away = new StoreUnavailable("no connection", cause);
    expect(away).toMatchObject({ name: "StoreUnavailable", code: "store-unavailable", cause });
    expect(new StoreUnavailable("no connection")).not.toHaveProperty("cause");
    const pending = new ApprovalPending("apr-1", "run-1");
    expect(pending).toMatchObject({
      name: "ApprovalPending",
      code: "approval-pending",
      approvalId: "apr-1",
      runId: "run-1",
      message: "waits for the approval apr-1",
    });
    const without = new ApprovalPending(undefined);
    expect([without.approvalId, without.runId]).toEqual([undefined, undefined]);
    expect(new ApprovalError("rule-invalid", "m")).toMatchObject({ name: "ApprovalError" });
  });

  it("APR-20 names the standing decision, and prints none of its arguments", () => {
    const decision = {
      approved: true,
      by: { id: "dana", assurance: "none" },
      at: 1,
      edited: { arguments: { card: "canary-12" } },
    } as const;
    const error = new ApprovalAlreadyDecided("apr-1", decision);
    expect(error.decision).toMatchObject(decision);
    expect(error.message).toBe("the approval apr-1 is already approved");
    expect(new ApprovalAlreadyDecided("a", { ...decision, approved: false }).message).toMatch(
      /denied/,
    );
    for (const form of [inspect(error), JSON.stringify(error), String(error)]) {
      expect(form).not.toContain("canary-12");
    }
  });

  it("APR-26 is known by its mark and code, also of another copy of the package", async () => {
    const error = new ApprovalError("rule-invalid", "m");
    expect(isApprovalError(error)).toBe(true);
    expect([
      isApprovalError(error, "rule-invalid"),
      isApprovalError(error, "key-required"),
    ]).toEqual([true, false]);
    for (const other of [
      null,
      undefined,
      "rule-invalid",
      new Error("m"),
      { code: "rule-invalid" },
    ]) {
      expect(isApprovalError(other)).toBe(false);
    }
    expect(isApprovalError(Object.create(error))).toBe(false);
    vi.resetModules();
    const copy = await import("../src/index.ts");
    expect(copy.ApprovalError).not.toBe(ApprovalError);
    expect(isApprovalError(new copy.ApprovalError("rule-invalid", "m"), "rule-invalid")).toBe(true);
  });

  it("APR-15 has a second copy of the package take this one's actors", async () => {
    const dana = await person("dana");
    vi.resetModules();
    const copy = await import("../src/index.ts");
    expect(copy.isActor).not.toBe(isActor);
    expect(copy.isActor(dana)).toBe(true);
    expect(() => copy.approve({ by: dana as never })).not.toThrow();
  });
});

describe("a canary in arguments", () => {
  const canary = "canary-9d2f71";

  it("CASE-174 R059 APR-02 appears in nothing that is printed, told, thrown or kept in a column", async () => {
    const edits: EditPort = {
      validate: ({ arguments: args }) =>
        (args as { bad?: boolean }).bad === true
          ? { status: "invalid", issues: ["bad: must not be"] }
          : { status: "valid", arguments: args, rule: { approvers: ["erik"] } },
    };
    const here = world({ edits });
    const args = { card: canary };
    const request = requestFor({ arguments: args, context: { card: canary } });
    const seen: unknown[] = [request, here.port, here.records, keyring];
    const thrown = async (tried: Promise<unknown>) =>
      void seen.push(await tried.catch((error: unknown) => error));
    seen.push(await here.port.request(request, how()));
    const by = await person("dana");
    const edit = (more: object) =>
      approve({ by, edited: editedArguments("issue_refund", { ...args, ...more }) });
    seen.push(edit({}), editedArguments("issue_refund", args));
    await thrown(here.records.decide({ scope, id: "apr-1", decision: edit({ bad: true }) }));
    const { argumentsDigest } = request;
    seen.push(await here.records.decide({ scope, id: "apr-1", decision: edit({}) }));
    const { items } = await here.records.list(scope);
    seen.push(
      items,
      items.map((item) => item.request()),
    );
    const next = items.find((item) => item.state === "pending")!;
    await thrown(here.records.decide({ scope, id: next.id, decision: await yes("mallory") }));
    await here.records.decide({ scope, id: next.id, decision: await yes("erik") });
    await thrown(here.records.decide({ scope, id: next.id, decision: await no("erik") }));
    await thrown(spend(here, next.id, "one", { argumentsDigest: "other" }));
    await thrown(spend(here, "apr-1", "one", { argumentsDigest, decision: deny({ by }) }));
    seen.push(await here.records.changes(scope), await here.records.verifyAudit(scope, "apr-1"));
    seen.push(await here.records.read(scope, "nothing"), await here.records.show(scope, next.id));
    const rows = await here.store.list(scope, {}, { order: "oldest", limit: 9 });
    seen.push(rows.map(({ values }) => ({ ...values, sealed: undefined })));
    const stranger = new DeferredApproval(here.store);
    await thrown(stranger.records.read(scope, "apr-1"));
    const printed = seen.flatMap((value) => [
      inspect(value, { depth: 12, getters: false }),
      JSON.stringify(value) ?? "",
      value instanceof Error ? `${value.message}${value.stack}${inspect(value.cause)}` : "",
    ]);
    expect(printed.join("\n")).toContain("apr-1");
    for (const form of printed) expect(form).not.toContain(canary);
  });

  it("APR-25 R059 is nowhere in what a store holds when the keyring has a cipher", async () => {
    const secret = createKeyring({
      current: { id: "k1", key: new Uint8Array(32).fill(3) },
      cipher: aesGcm,
    });
    const store = memoryApprovalStore();
    const here = world({ store, keyring: secret });
    const request = requestFor({ arguments: { card: canary } });
    await here.port.request(request, how());
    const { argumentsDigest } = request;
    await here.records.decide({ scope, id: "apr-1", decision: await yes("dana") });
    await spend(here, "apr-1", "one", { argumentsDigest });
    const row = await store.get(scope, "apr-1");
    const entries = await store.history(scope, "apr-1", 0, 9);
    expect(JSON.stringify([row, entries])).not.toContain(canary);
    expect((await here.records.show(scope, "apr-1"))?.arguments().proposed).toEqual({
      card: canary,
    });
    expect(await file(here, { callId: "c2" }, "apr-2")).toBe("apr-2");
  });
});
