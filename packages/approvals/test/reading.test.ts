// Lists, single records and the feed of events, as people and pages read them.
import { inspect } from "node:util";

import { describe, expect, it } from "vitest";

import { keyringOf } from "@holdpoint/seal";

import {
  approve,
  DeferredApproval,
  memoryApprovalStore,
  type ApprovalEvent,
} from "../src/index.ts";
import { file, keyring, no, person, requestFor, scope, spend, world, yes } from "./world.ts";

const withCode = (code: string) => expect.objectContaining({ code });

describe("a list", () => {
  async function twelve() {
    const here = world();
    for (let at = 0; at < 12; at += 1) {
      const rule = at % 2 === 0 ? { expiresInMs: 10_000 - at } : {};
      await file(
        here,
        { callId: `c${at}`, runId: `run-${at % 3}`, rule },
        `a${String(at).padStart(2, "0")}`,
      );
      here.clock.move(1);
    }
    return here;
  }

  it("APR-23 gives pages that join up to the whole, in each order, with a cursor until the last", async () => {
    const here = await twelve();
    for (const order of ["oldest", "newest", "expiring"] as const) {
      const whole = await here.records.list(scope, { order, limit: 500 });
      expect(whole.cursor).toBeUndefined();
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await here.records.list(scope, {
          order,
          limit: 5,
          ...(cursor === undefined ? {} : { cursor }),
        });
        ids.push(...page.items.map((item) => item.id));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(ids).toEqual(whole.items.map((item) => item.id));
      expect(ids).toHaveLength(12);
    }
    expect((await here.records.list(scope)).items.map((item) => item.id)[0]).toBe("a00");
  });

  it("APR-23 filters as asked", async () => {
    const here = await twelve();
    await here.records.decide({ scope, id: "a00", decision: await yes("dana") });
    const ids = async (filter: object) =>
      (await here.records.list(scope, { filter })).items.map((item) => item.id);
    expect(await ids({ state: "decided" })).toEqual(["a00"]);
    expect(await ids({ state: "consumed" })).toEqual([]);
    expect(await ids({ runId: "run-1" })).toEqual(["a01", "a04", "a07", "a10"]);
    expect(await ids({ state: "pending", requestedBefore: 1_000_003 })).toEqual(["a01", "a02"]);
    expect(await ids({ tool: "deploy" })).toEqual([]);
    expect(await ids({ expiresBefore: 1_010_001 })).toEqual([
      "a00",
      "a02",
      "a04",
      "a06",
      "a08",
      "a10",
    ]);
    expect(await ids({ expiresBefore: 1_010_000 })).toEqual([]);
  });

  const wrong: readonly (readonly [string, unknown])[] = [
    ["an unknown member", { status: "pending" }],
    ["a state of null", { state: null }],
    ["a state that is undefined", { state: undefined }],
    ["an unknown state", { state: "open" }],
    ["a tool of null", { tool: null }],
    ["an empty tool", { tool: "" }],
    ["an operator for a run", { runId: { $ne: 1 } }],
    ["a time in words", { requestedBefore: "yesterday" }],
    ["a time that is no number", { expiresBefore: Number.NaN }],
    ["a tool with a NUL", { tool: "a\0" }],
    ["null", null],
    ["undefined", undefined],
    ["a list", []],
    ["a text", "pending"],
  ];
  it.each(wrong)("APR-05 R089 does not take %s as a filter for all", async (_name, filter) => {
    const here = await twelve();
    const listed = here.records.list(scope, { filter: filter as object });
    await expect(listed).rejects.toThrow(withCode("filter-invalid"));
  });

  it("APR-05 R089 takes no scope, order or limit that is none", async () => {
    const here = await twelve();
    for (const at of [null, undefined, "", "*", "a' or 1=1"]) {
      await expect(here.records.list(at as string)).rejects.toThrow(withCode("id-invalid"));
      await expect(here.records.changes(at as string)).rejects.toThrow(withCode("id-invalid"));
      await expect(here.records.cursor(at as string)).rejects.toThrow(withCode("id-invalid"));
      const one = [
        here.records.verifyAudit(at as string, "a00"),
        here.records.show(at as string, "a00"),
      ];
      const ids = [
        here.records.verifyAudit(scope, at as string),
        here.records.read(scope, at as string),
      ];
      for (const asked of [...one, ...ids]) {
        await expect(asked).rejects.toThrow(withCode("id-invalid"));
      }
    }
    for (const limit of [0, 501, 1.5, "5"]) {
      const listed = here.records.list(scope, { limit: limit as number });
      await expect(listed).rejects.toThrow(withCode("filter-invalid"));
    }
    const ordered = here.records.list(scope, { order: "random" as "oldest" });
    await expect(ordered).rejects.toThrow(withCode("filter-invalid"));
    expect((await here.records.list("other")).items).toEqual([]);
  });

  it("APR-23 takes a cursor for its own scope, filter and order alone, and none that was changed", async () => {
    const here = await twelve();
    const filter = { state: "pending" } as const;
    const { cursor = "" } = await here.records.list(scope, { filter, limit: 5 });
    const rest = await here.records.list(scope, { filter, cursor });
    expect(rest.items).toHaveLength(7);
    const feed = (await here.records.changes(scope)).cursor;
    const tries: readonly (readonly [string, object])[] = [
      ["other", { filter, cursor }],
      [scope, { cursor }],
      [scope, { filter: { state: "decided" }, cursor }],
      [scope, { filter, order: "newest", cursor }],
      [scope, { filter, cursor: cursor.replace("a04", "a05") }],
      [scope, { filter, cursor: "nonsense" }],
      [scope, { filter, cursor: feed }],
    ];
    for (const [at, query] of tries) {
      await expect(here.records.list(at, query)).rejects.toThrow(withCode("cursor-invalid"));
    }
    const stranger = new DeferredApproval(here.store, { keyring: keyringOf(new Uint8Array(32)) });
    const foreign = stranger.records.list(scope, { filter, cursor });
    await expect(foreign).rejects.toThrow(withCode("cursor-invalid"));
  });

  it("APR-23 shows what is expired and what is missing as of now", async () => {
    const here = world();
    await file(here, { rule: { expiresInMs: 5, quorum: 2 } });
    const shown = async () => (await here.records.list(scope)).items[0];
    expect(await shown()).toMatchObject({ expired: false, missing: 2, expiresAt: 1_000_005 });
    await here.records.decide({ scope, id: "apr-1", decision: await yes("dana") });
    here.clock.move(5);
    expect(await shown()).toMatchObject({ expired: true, missing: 1, state: "pending" });
  });
});

describe("a view", () => {
  it("APR-02 prints without arguments, and gives them, and the request, when asked", async () => {
    const here = world();
    const id = await file(here, { arguments: { card: "canary-77" }, context: "canary-78" });
    const decision = approve({ by: await person("dana"), note: "fine" });
    await here.records.decide({ scope, id, decision });
    await spend(here, id, "one", {
      argumentsDigest: requestFor({ arguments: { card: "canary-77" } }).argumentsDigest,
    });
    const view = (await here.records.show(scope, id))!;
    const forms = [
      inspect(view, { depth: 9, showHidden: true }),
      String(view),
      JSON.stringify(view),
    ];
    for (const form of forms) expect(form).not.toMatch(/canary/);
    expect(inspect(view)).toBe("approval apr-1 (issue_refund, run run-1): consumed");
    expect(JSON.parse(JSON.stringify(view))).toMatchObject({
      state: "consumed",
      version: 3,
      decision: { approved: true, note: "fine", edited: false, by: { id: "dana" } },
      attemptId: "one",
    });
    expect(view.arguments()).toEqual({
      proposed: { card: "canary-77" },
      effective: { card: "canary-77" },
    });
    expect(view.arguments().proposed).not.toBe(view.arguments().proposed);
    expect(view.request()).toMatchObject({ id, requestedAt: 1_000_000, tool: "issue_refund" });
    expect(view.request().context).toBe("canary-78");
    expect(Object.isFrozen(view)).toBe(true);
  });

  it("APR-01 APR-22 shows everything that a record says but its arguments", async () => {
    const here = world();
    const id = await file(here, { rule: { quorum: 2, expiresInMs: 5_000, title: "Refund" } });
    await here.records.decide({ scope, id, decision: await yes("dana finance") });
    const dana = { id: "dana", assurance: "verified", roles: ["finance"] };
    expect(JSON.parse(JSON.stringify(await here.records.show(scope, id)))).toEqual({
      id,
      scope,
      state: "pending",
      version: 2,
      kind: "tool",
      tool: "issue_refund",
      runId: "run-1",
      node: "pay#1",
      callId: "run-1/pay#1/issue_refund/1",
      requestedBy: { id: "rita", assurance: "verified" },
      requestedAt: 1_000_000,
      expiresAt: 1_005_000,
      expired: false,
      rule: { quorum: 2, expiresInMs: 5_000, title: "Refund" },
      argumentsDigest: requestFor().argumentsDigest,
      votes: [{ approved: true, by: dana, at: 1_000_000, edited: false }],
      lateVotes: [],
      missing: 1,
    });
  });

  it("APR-21 tells why a record was withdrawn", async () => {
    const here = world();
    const id = await file(here);
    const writes = await here.records.withdraw({ scope, id, attemptId: "x", reason: "cancelled" });
    await here.store.commit("x", writes);
    expect((await here.records.show(scope, id))?.decision).toEqual({
      approved: false,
      at: 1_000_000,
      by: { id: "system", assurance: "none" },
      edited: false,
      reason: "cancelled",
    });
  });
});

describe("the feed", () => {
  async function eventful() {
    const here = world();
    await file(here, { rule: { quorum: 2 } }, "one");
    await file(here, { callId: "c2" }, "two");
    await here.records.decide({ scope, id: "one", decision: await yes("dana") });
    await here.records.decide({ scope, id: "one", decision: await yes("erik") });
    await spend(here, "one", "attempt-1");
    const end = { scope, id: "one", attemptId: "attempt-1", outcome: "executed" } as const;
    await here.store.commit("end", await here.records.conclude(end));
    const cancelled = { scope, id: "two", attemptId: "x", reason: "cancelled" } as const;
    await here.store.commit("x", await here.records.withdraw(cancelled));
    return here;
  }

  const told = ({ type, id, approved, outcome }: ApprovalEvent) => [type, id, approved ?? outcome];

  it("APR-27 tells what happened, in order, without arguments or votes", async () => {
    const here = await eventful();
    const { events, broken, more } = await here.records.changes(scope);
    expect(events.map(told)).toEqual([
      ["approval.requested", "one", undefined],
      ["approval.requested", "two", undefined],
      ["approval.decided", "one", true],
      ["approval.consumed", "one", undefined],
      ["approval.withdrawn", "two", "cancelled"],
    ]);
    expect([broken, more]).toEqual([[], false]);
    expect(events[2]).toMatchObject({ scope, at: 1_000_000, by: { id: "erik" } });
    expect((await here.records.changes("other")).events).toEqual([]);
  });

  it("APR-27 catches up from a cursor: after an event, after a page, and from now", async () => {
    const here = await eventful();
    const { events } = await here.records.changes(scope);
    const later = await here.records.changes(scope, { after: events[1]!.cursor });
    expect(later.events).toEqual(events.slice(2));
    const joined: ApprovalEvent[] = [];
    let after: string | undefined;
    for (let more = true; more;) {
      const page = await here.records.changes(scope, {
        limit: 2,
        ...(after === undefined ? {} : { after }),
      });
      joined.push(...page.events);
      ({ cursor: after, more } = page);
    }
    expect(joined).toEqual(events);
    const now = await here.records.cursor(scope);
    expect((await here.records.changes(scope, { after: now })).events).toEqual([]);
    await here.records.decide({
      scope,
      id: await file(here, {}, "three"),
      decision: await no("dana"),
    });
    expect((await here.records.changes(scope, { after: now })).events.map(told)).toEqual([
      ["approval.requested", "three", undefined],
      ["approval.decided", "three", false],
    ]);
  });

  it("APR-27 takes no cursor of another scope, of a list, or of nobody, and no limit that is none", async () => {
    const here = await eventful();
    const { cursor } = await here.records.changes(scope);
    const list = (await here.records.list(scope, { limit: 1 })).cursor;
    const tries: readonly (readonly [string, string | undefined])[] = [
      ["other", cursor],
      [scope, list],
      [scope, "nonsense"],
    ];
    for (const [at, after = ""] of tries) {
      await expect(here.records.changes(at, { after })).rejects.toThrow(withCode("cursor-invalid"));
    }
    await expect(here.records.changes(scope, { limit: 0 })).rejects.toThrow(
      withCode("filter-invalid"),
    );
  });

  it("APR-27 gives a watcher what was and what comes, and ends when told to", async () => {
    const here = await eventful();
    const stop = new AbortController();
    const seen: unknown[] = [];
    let woken: () => void = () => undefined;
    const five = new Promise<void>((resolve) => (woken = resolve));
    const watching = (async () => {
      for await (const event of here.records.watch(scope, { signal: stop.signal })) {
        seen.push(told(event)[0]);
        if (seen.length === 5) woken();
        if (seen.length === 6) stop.abort();
      }
    })();
    await five;
    await file(here, { callId: "c3" }, "three");
    await watching;
    expect(seen).toHaveLength(6);
    expect(seen.at(-1)).toBe("approval.requested");
  });

  it("APR-27 waits in the store between events, and wakes no more than it has to", async () => {
    let reads = 0;
    const real = memoryApprovalStore();
    const counted: typeof real = {
      ...real,
      changes: (...how) => {
        reads += 1;
        return real.changes(...how);
      },
    };
    const here = world({ store: counted });
    const stop = new AbortController();
    const after = await here.records.cursor(scope);
    const next = here.records.watch(scope, { after, signal: stop.signal })[Symbol.asyncIterator]();
    for (let at = 0; at < 3; at += 1) {
      const waiting = next.next();
      await file(here, { callId: `c${at}` }, `r${at}`);
      expect((await waiting).value).toMatchObject({ id: `r${at}` });
    }
    expect(reads).toBeLessThanOrEqual(5);
    const last = next.next();
    stop.abort();
    expect(await last).toEqual({ done: true, value: undefined });
    const never = here.records.watch(scope, { signal: AbortSignal.abort() });
    expect(await never[Symbol.asyncIterator]().next()).toMatchObject({ done: true });
  });

  it("APR-27 stops in the middle of a page when told to", async () => {
    const here = await eventful();
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const event of here.records.watch(scope, { signal: stop.signal })) {
      seen.push(event.id);
      stop.abort();
    }
    expect(seen).toEqual(["one"]);
    expect(keyring.ephemeral).toBe(false);
  });

  it("APR-27 reads on without waiting while there is more than a page", async () => {
    const here = world();
    for (let at = 0; at < 120; at += 1) await file(here, { callId: `c${at}` }, `r${at}`);
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const event of here.records.watch(scope, { signal: stop.signal })) {
      seen.push(event.id);
      if (seen.length === 120) stop.abort();
    }
    expect(new Set(seen).size).toBe(120);
  });
});
