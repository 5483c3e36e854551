// A platform without `setImmediate`, watchers that are taken back, removals that no store does.
import { keyringOf } from "@holdpoint/seal";
import { afterEach, describe, expect, it, vi } from "vitest";

import {
  auditKey,
  checkedRule,
  DeferredApproval,
  eventLoopTurn,
  limits,
  memoryApprovalStore,
  memoryHome,
  memoryRemover,
  statements,
  type ApprovalRule,
  type Removal,
  type Write,
} from "../src/index.ts";
import type { DroppedRow } from "../src/memory-home.ts";

const scope = "acme";

/** The write that appends an audit entry. */
const auditWrite = (of: string, id: string, number: number): Write => ({
  statement: statements.appendAudit,
  scope: of,
  key: auditKey(id, number),
  expect: 0,
  values: { sealed: `entry ${number}` },
});
const row = (key: string) =>
  ({ statement: "log.put", scope, key, expect: 0, values: { n: 1 } }) as const;

describe("the audit trail of a record", () => {
  const keyring = keyringOf(new Uint8Array(32).fill(7));

  it("APR-22 is asked for by ids alone, and a missing record has none", async () => {
    const { records } = new DeferredApproval(memoryApprovalStore(), { keyring });
    expect(await records.verifyAudit(scope, "apr-1")).toEqual({ status: "missing" });
    for (const [ofScope, id] of [
      ["no scope", "apr-1"],
      [scope, "no id"],
    ] as const) {
      await expect(records.verifyAudit(ofScope, id)).rejects.toMatchObject({ code: "id-invalid" });
    }
  });
});

describe("a rule", () => {
  it("APR-14 APR-15 may go as far as its bounds, and not one further", () => {
    const { approversMax, quorumMax, noteCharactersMax, durationMsMax } = limits;
    const names = (count: number) => Array.from({ length: count }, (_, at) => `person-${at}`);
    const atMost: readonly ApprovalRule[] = [
      { approvers: names(approversMax) },
      { quorum: 1 },
      { quorum: quorumMax },
      { expiresInMs: durationMsMax, useWithinMs: 1 },
      { title: "t".repeat(noteCharactersMax) },
    ];
    for (const rule of atMost) expect(checkedRule(rule)).toEqual(rule);
    const beyond: readonly ApprovalRule[] = [
      { approvers: names(approversMax + 1) },
      { approvers: [] },
      { quorum: 0 },
      { quorum: quorumMax + 1 },
      { expiresInMs: durationMsMax + 1 },
      { useWithinMs: 0 },
      { title: "t".repeat(noteCharactersMax + 1) },
    ];
    for (const rule of beyond)
      expect(() => checkedRule(rule)).toThrow(expect.objectContaining({ code: "rule-invalid" }));
  });
});

describe("a turn of the event loop", () => {
  afterEach(() => void vi.unstubAllGlobals());

  it.each([true, false])(
    "APR-13 serves what waits outside of promises, with setImmediate there (%s)",
    async (isThere) => {
      if (!isThere) vi.stubGlobal("setImmediate", undefined);
      const served: string[] = [];
      const { port1, port2 } = new MessageChannel();
      const message = new Promise<void>((resolve) => {
        port1.onmessage = () => (served.push("message"), resolve());
      });
      port2.postMessage(0);
      const turn = eventLoopTurn().then(() => served.push("turn"));
      await Promise.resolve();
      expect(served).toEqual([]); // it is no mere microtask
      await Promise.all([turn, message]);
      expect(served.toSorted()).toEqual(["message", "turn"]);
      port1.close();
    },
  );
});

describe("a home in memory", () => {
  it("APR-29 tells who watches of commits and of rows taken out, until that is taken back", async () => {
    const home = memoryHome();
    const told: string[] = [];
    const dropped = ({ row: { key } }: DroppedRow): void => void told.push(`dropped ${key}`);
    const back = home.watch(
      (applied) => told.push(...applied.map(({ row: { key } }) => key)),
      dropped,
    );
    const backToo = home.watch(() => told.push("another"));
    await home.commit("one", [row("a"), row("b")]);
    home.drop("log", scope, "a");
    home.drop("log", scope, "a"); // gone: nothing to tell
    expect(told).toEqual(["a", "b", "another", "dropped a"]);
    back();
    backToo();
    await home.commit("two", [row("c")]);
    home.drop("log", scope, "b");
    expect(told).toHaveLength(4);
  });

  const one = { table: "log", key: "a" };
  const wrong: readonly (readonly [string, Removal])[] = [
    ["a scope that is none", { scope: "no scope", rows: [one] }],
    ["a key that is none", { scope, rows: [one, { table: "log", key: "no key" }] }],
    [
      "a standing key that is none",
      { scope, rows: [one], standing: { ...one, key: "", version: 1 } },
    ],
    ["one row too many", { scope, rows: Array.from({ length: limits.removedMax + 1 }, () => one) }],
  ];

  it.each(wrong)("APR-29 takes nothing out by %s", async (_, removal) => {
    const home = memoryHome();
    await home.commit("one", [row("a")]);
    await expect(memoryRemover(home).remove(removal)).rejects.toMatchObject({
      code: "write-invalid",
    });
    expect(home.row("log", scope, "a")).toBeDefined();
  });

  it("APR-27 APR-29 forgets rows that were taken out in its lists and changes, and gives no position twice", async () => {
    const home = memoryHome();
    const store = memoryApprovalStore(home);
    const record = (id: string, state = "pending", expectAt = 0) =>
      ({
        statement: "approvals.put",
        scope,
        key: id,
        expect: expectAt,
        values: { state, tool: "pay", runId: "r", requestKey: id, requestedAt: 1, expiresAt: null },
      }) as const;
    const audit = (id: string, number: number) => auditWrite(scope, id, number);
    await store.commit("one", [record("a"), audit("a", 1), record("b"), audit("b", 1)]);
    await store.commit("two", [record("a", "decided", 1), audit("a", 2), row("x")]);
    const remover = memoryRemover(home);
    const listed = async () =>
      (await store.list(scope, {}, { order: "oldest", limit: 9 })).map(({ key }) => key);
    const changed = async (after = 0) =>
      (await store.changes(scope, after, 9)).map((one) => `${one.position} ${one.row.key}`);
    const [a1, a2, b1] = [audit("a", 1).key, audit("a", 2).key, audit("b", 1).key];
    expect([await listed(), await changed()]).toEqual([
      ["a", "b"],
      [`1 ${a1}`, `2 ${b1}`, `3 ${a2}`],
    ]);
    const rows = [
      { table: "approvals", key: "a" },
      { table: "approvalAudit", key: a1 },
      { table: "log", key: "x" },
    ];
    const standing = { table: "approvals", key: "b", version: 1 };
    const moved = { ...standing, version: 2 };
    expect(await remover.remove({ scope, rows, standing: moved })).toBe(false);
    expect((await listed()).length).toBe(2);
    expect(await remover.remove({ scope, rows, standing })).toBe(true);
    expect([await listed(), await changed()]).toEqual([["b"], [`2 ${b1}`, `3 ${a2}`]]);
    expect([await changed(1), await changed(2), await changed(3)]).toEqual([
      [`2 ${b1}`, `3 ${a2}`],
      [`3 ${a2}`],
      [],
    ]);
    // Again, and with what has to stand gone too: that is no matter.
    const gone = { table: "approvals", key: "a", version: 1 };
    expect(await remover.remove({ scope, rows, standing: gone })).toBe(true);
    await store.commit("three", [audit("b", 2)]);
    expect(await changed(3)).toEqual([`4 ${audit("b", 2).key}`]);
    expect(await store.lastChange(scope)).toBe(4);
  });

  it("APR-29 takes out as many rows at once as are allowed", async () => {
    const home = memoryHome();
    await home.commit("one", [row("a")]);
    const rows = Array.from({ length: limits.removedMax }, () => one);
    expect(await memoryRemover(home).remove({ scope, rows })).toBe(true);
    expect(home.row("log", scope, "a")).toBeUndefined();
  });
});
