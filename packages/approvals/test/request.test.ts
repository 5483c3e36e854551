// A request never prints what it asks about.
import { inspect } from "node:util";

import { isSealError } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";

import {
  ApprovalRequest,
  denyAll,
  requestFromRedacted,
  requestOf,
  approveAll,
  askApproval,
  rulesApproval,
} from "../src/index.ts";
import { how, requestFor, refund, world } from "./world.ts";

const canary = "canary-4f1c";
const withCode = (code: string) => expect.objectContaining({ code });

describe("a request", () => {
  it("APR-01 holds who asks for what, where, when, and under which rules", () => {
    const request = requestFor({
      rule: { title: "Refund", quorum: 2 },
      context: { order: "A-17" },
    });
    expect(JSON.parse(JSON.stringify(request))).toEqual({
      id: "apr-1",
      kind: "tool",
      tool: "issue_refund",
      scope: "acme",
      runId: "run-1",
      node: "pay#1",
      callId: "run-1/pay#1/issue_refund/1",
      argumentKey: "key-of-arguments",
      requestedBy: { id: "rita", assurance: "verified" },
      rule: { title: "Refund", quorum: 2 },
      requestedAt: 1_000_000,
      argumentsDigest: request.argumentsDigest,
    });
    expect(request.arguments).toBe(refund);
    expect(request.context).toEqual({ order: "A-17" });
    expect(request.argumentsDigest).toMatch(/^[\w-]{43}$/);
    expect(requestFor({ requestedBy: undefined }).requestedBy).toBeUndefined();
    expect(requestFor({ node: "" }).node).toBe("");
  });

  it("APR-02 R059 prints without its arguments or context, in every way there is", () => {
    const request = requestFor({ arguments: { card: canary }, context: canary });
    const carrier = { pending: { request }, list: [request], map: new Map([["r", request]]) };
    const forms = [
      inspect(request, { depth: 9, showHidden: true, getters: true }),
      inspect(carrier, { depth: 9, showHidden: true }),
      `${String(request)}`,
      JSON.stringify(request),
      JSON.stringify(carrier),
      inspect(structuredClone({ ...carrier, map: undefined }), { depth: 9 }),
      inspect(Object.assign({}, request), { depth: 9 }),
      inspect(Object.entries(request), { depth: 9 }),
      String(new Error(`failed for ${String(request)}`).stack),
    ];
    for (const form of forms) expect(form).not.toContain(canary);
    expect(inspect(request)).toBe("ApprovalRequest apr-1 (issue_refund, run run-1)");
  });

  it("APR-04 has no arguments when it is rebuilt from its printed form, and no port answers it", async () => {
    const request = requestFor();
    const rebuilt = requestFromRedacted(structuredClone(request.toJSON()));
    expect([rebuilt.redacted, request.redacted]).toEqual([true, false]);
    expect([rebuilt.arguments, rebuilt.context]).toEqual([undefined, undefined]);
    expect(rebuilt.toJSON()).toEqual(request.toJSON());
    const fallback = denyAll();
    const ports = [
      world().port,
      approveAll(),
      denyAll(),
      askApproval(() => undefined),
      rulesApproval([], { fallback }),
    ];
    for (const port of ports) {
      await expect(port.request(rebuilt, how())).rejects.toThrow(withCode("request-redacted"));
    }
  });

  it("APR-01 is frozen, and told by its class", () => {
    const request = requestFor();
    expect(Object.isFrozen(request)).toBe(true);
    expect(request).toBeInstanceOf(ApprovalRequest);
    expect(Object.isFrozen(request.requestedBy)).toBe(true);
  });

  const wrong: readonly (readonly [string, object, string])[] = [
    ["a kind of its own", { kind: "other" }, "request-invalid"],
    ["a tool that is no text", { tool: 7 }, "request-invalid"],
    ["an empty tool", { tool: "" }, "request-invalid"],
    ["a node with a NUL", { node: "a\0" }, "request-invalid"],
    ["a call id with half a surrogate pair", { callId: "\uDC00" }, "request-invalid"],
    ["an endless argument key", { argumentKey: "x".repeat(1_001) }, "request-invalid"],
    ["a scope of null", { scope: null }, "id-invalid"],
    ["a scope with a quote", { scope: "a'b" }, "id-invalid"],
    ["a run id with a blank", { runId: "a b" }, "id-invalid"],
    ["a rule that is none", { rule: { quorum: 0 } }, "rule-invalid"],
  ];
  it.each(wrong)("APR-01 APR-05 refuses %s", (_name, facts, code) => {
    expect(() => requestFor(facts)).toThrow(withCode(code));
  });

  it("APR-01 refuses an id that is none", () => {
    expect(() => requestFor({}, { id: "' or 1=1" })).toThrow(withCode("id-invalid"));
    const redacted = { ...requestFor().toJSON(), id: "" };
    expect(() => requestFromRedacted(redacted)).toThrow(withCode("id-invalid"));
  });

  it("APR-25 refuses arguments that can't be sealed, and takes a digest of the caller's own", () => {
    const take = () => requestFor({ arguments: { done: () => undefined } });
    expect(take).toThrow(expect.toSatisfy((error) => isSealError(error, "state-not-sealable")));
    const { argumentsDigest: _unused, ...facts } = { ...requestFor().toJSON(), arguments: refund };
    const own = requestOf(facts, { id: "apr-1", requestedAt: 1, digest: () => "own" });
    expect(own.argumentsDigest).toBe("own");
  });
});
