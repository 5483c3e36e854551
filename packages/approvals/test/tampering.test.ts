// A row or an entry that somebody changed by hand: never trusted, always named, and in nobody else's way.
import { encode, processKeyring, PURPOSES, sign } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";

import {
  approve,
  auditKey,
  DeferredApproval,
  deny,
  editedArguments,
  isApprovalError,
  memoryApprovalStore,
  memoryHome,
  requestOf,
  type ApprovalStore,
  type MemoryHome,
  type Row,
} from "../src/index.ts";
import { denialKeyOf } from "../src/record-access.ts";
import {
  file,
  handClock,
  how,
  keyring,
  person,
  requestFor,
  scope,
  spend,
  world,
  yes,
} from "./world.ts";

const withCode = (code: string) => expect.objectContaining({ code });

interface Forgery {
  readonly here: ReturnType<typeof world>;
  /** Puts a row in place of what stands, as somebody with the database could. */
  readonly forge: (table: string, key: string, change: (row: Row) => Row | undefined) => void;
}

function forgeable(): Forgery {
  const home = memoryHome({ clock: handClock() });
  const forged = new Map<string, Row | undefined>();
  const place = (table: string, key: string) => `${table} ${key}`;
  const real = memoryApprovalStore(home);
  const seen = (table: string, row: Row | undefined, key: string) =>
    forged.has(place(table, key)) ? forged.get(place(table, key)) : row;
  const seenAll = (table: string, rows: readonly Row[]) =>
    rows.flatMap((row) => seen(table, row, row.key) ?? []);
  const store: ApprovalStore = {
    ...real,
    get: async (at, id) => seen("approvals", await real.get(at, id), id),
    find: async (at, key) => seen("approvalKeys", await real.find(at, key), key),
    list: async (...query) => seenAll("approvals", await real.list(...query)),
    history: async (...query) => seenAll("approvalAudit", await real.history(...query)),
    changes: async (...query) =>
      (await real.changes(...query)).flatMap(({ position, row }) => {
        const shown = seen("approvalAudit", row, row.key);
        return shown === undefined ? [] : [{ position, row: shown }];
      }),
  };
  return {
    here: world({ store }),
    forge(table, key, change) {
      forged.set(place(table, key), change(rowOf(home, table, key)));
    },
  };
}

function rowOf(home: MemoryHome, table: string, key: string): Row {
  const row = home.row(table, scope, key);
  if (row === undefined) throw new Error(`no ${table} ${key}`);
  return row;
}

const withValues = (row: Row, values: Row["values"]): Row => ({
  ...row,
  values: { ...row.values, ...values },
});

describe("a record's row", () => {
  const changes: readonly (readonly [string, (row: Row) => Row])[] = [
    ["another state", (row) => withValues(row, { state: "decided" })],
    ["another tool", (row) => withValues(row, { tool: "deploy" })],
    ["another run", (row) => withValues(row, { runId: "run-2" })],
    ["another request key", (row) => withValues(row, { requestKey: "k" })],
    ["another time of asking", (row) => withValues(row, { requestedAt: 1 })],
    ["another expiry", (row) => withValues(row, { expiresAt: 2 ** 52 })],
    ["no expiry", (row) => withValues(row, { expiresAt: null })],
    ["another version", (row) => ({ ...row, version: 7 })],
    ["no text", (row) => withValues(row, { sealed: null })],
    ["a text that is no seal", (row) => withValues(row, { sealed: "{}" })],
    ["a cut text", (row) => withValues(row, { sealed: String(row.values["sealed"]).slice(0, -9) })],
    [
      "other arguments within the text",
      (row) => withValues(row, { sealed: String(row.values["sealed"]).replace("4200", "9200") }),
    ],
  ];

  it.each(changes)(
    "APR-25 is refused with %s, by every operation, and nothing moves",
    async (_what, change) => {
      const { here, forge } = forgeable();
      const id = await file(here, { rule: { expiresInMs: 5_000 } });
      const before = await here.store.get(scope, id);
      forge("approvals", id, change);
      const tampered = withCode("record-tampered");
      await expect(here.records.read(scope, id)).rejects.toThrow(tampered);
      await expect(here.records.show(scope, id)).rejects.toThrow(tampered);
      await expect(here.port.request(requestFor(), how())).rejects.toThrow(tampered);
      await expect(spend(here, id, "one", { decision: await yes("dana") })).rejects.toThrow(
        tampered,
      );
      await expect(here.records.decide({ scope, id, decision: await yes("dana") })).rejects.toThrow(
        tampered,
      );
      const end = here.records.withdraw({ scope, id, attemptId: "x", reason: "cancelled" });
      await expect(end).rejects.toThrow(tampered);
      expect(await here.records.verifyAudit(scope, id)).toEqual({
        status: "broken",
        entry: 0,
        fault: "record",
        entries: [],
      });
      forge("approvals", id, () => before!);
      expect(await here.records.read(scope, id)).toMatchObject({ state: "pending" });
    },
  );

  it("APR-25 is refused under another id, scope or version than it was sealed for", async () => {
    const { here, forge } = forgeable();
    const one = await file(here);
    const two = await file(here, { callId: "c2", arguments: { cents: 1 } }, "apr-2");
    const other = await here.store.get(scope, two);
    forge("approvals", one, (row) => ({ ...other!, key: row.key }));
    await expect(here.records.read(scope, one)).rejects.toThrow(withCode("record-tampered"));
    await file(here, { scope: "other" }, "apr-3");
    const foreign = await here.store.get("other", "apr-3");
    forge("approvals", two, (row) => ({ ...foreign!, key: row.key }));
    await expect(here.records.read(scope, two)).rejects.toThrow(withCode("record-tampered"));
  });

  it("APR-23 is set aside in a list, named, and holds up none of the others", async () => {
    const { here, forge } = forgeable();
    for (const id of ["a", "b", "c"]) await file(here, { callId: id }, id);
    forge("approvals", "b", (row) => withValues(row, { tool: "deploy" }));
    const list = await here.records.list(scope);
    expect(list.items.map((item) => item.id)).toEqual(["a", "c"]);
    expect(list.broken).toEqual([{ id: "b", error: withCode("record-tampered") }]);
  });

  it("APR-20 that is put back as it was before spends nothing a second time", async () => {
    const { here, forge } = forgeable();
    const id = await file(here);
    await here.records.decide({ scope, id, decision: await yes("dana") });
    const decided = await here.store.get(scope, id);
    await spend(here, id, "one");
    forge("approvals", id, () => decided);
    const again = await spend(here, id, "two");
    expect(again).toEqual({ status: "refused" });
    expect(await here.records.verifyAudit(scope, id)).toMatchObject({
      status: "broken",
      entry: 3,
      fault: "beyond",
    });
  });

  it("APR-25 of a later format is refused, not misread", async () => {
    const { here, forge } = forgeable();
    const id = await file(here);
    const header = { scope, id, state: "pending", version: 1 };
    const { text } = sign(encode({ format: 2 }), { keyring, purpose: PURPOSES.approval, header });
    forge("approvals", id, (row) => withValues(row, { sealed: text }));
    await expect(here.records.read(scope, id)).rejects.toThrow(/of a format/);
  });

  it("APR-13 is passed over by a sweep, which ends the others", async () => {
    const { here, forge } = forgeable();
    const rule = { expiresInMs: 5 };
    for (const id of ["a", "b", "c", "d"]) await file(here, { callId: id, rule }, id);
    await here.records.decide({ scope, id: "c", decision: await yes("dana") });
    const decided = await here.store.get(scope, "c");
    here.clock.move(5);
    forge("approvals", "b", (row) => withValues(row, { tool: "deploy" }));
    const stale: ApprovalStore = {
      ...here.store,
      list: async (...query) => [...(await here.store.list(...query)), decided!],
    };
    const later = world({ store: { ...stale, now: async () => 1_000_005 } });
    const swept = await later.records.sweep(scope);
    expect(swept).toEqual(["a", "d"]);
  });

  it("APR-12 of another call is not taken for this one's, wherever a key row points", async () => {
    const { here, forge } = forgeable();
    await file(here);
    await file(here, { callId: "c2" }, "apr-2");
    const key = (await here.records.show(scope, "apr-1"))!;
    const row = await here.store.get(scope, key.id);
    const requestKey = String(row?.values["requestKey"]);
    for (const id of ["apr-2", "nothing"]) {
      forge("approvalKeys", requestKey, (at) => withValues(at, { id }));
      await expect(here.port.request(requestFor(), how())).rejects.toThrow(
        withCode("record-tampered"),
      );
    }
  });

  it("APR-18 that is no denial for its run covers no call, wherever a key row points", async () => {
    const { here, forge } = forgeable();
    const denied = await file(here);
    await here.records.decide({ scope, id: denied, decision: await denyForRun() });
    const second = await file(here, { callId: "c2", argumentKey: "k2" }, "apr-2");
    await here.records.decide({ scope, id: second, decision: await yes("dana") });
    await file(here, { callId: "c3", argumentKey: "k3" }, "apr-3");
    const third = await file(here, { callId: "c4", argumentKey: "k4" }, "apr-4");
    await here.records.decide({ scope, id: third, decision: await denyForRun() });
    const [key] = await keysOfDenials(here, denied);
    for (const id of ["apr-2", "apr-3", "apr-4", "nothing"]) {
      forge("approvalKeys", key!, (row) => withValues(row, { id }));
      const asked = here.port.request(requestFor({ callId: "c5" }, { id: "x" }), how());
      await expect(asked).rejects.toThrow(withCode("record-tampered"));
    }
  });

  it("APR-16 that names a successor which does not name it back is not followed", async () => {
    const edits = {
      validate: () => ({ status: "valid", arguments: {}, rule: { quorum: 2 } }) as const,
    };
    const { here, forge } = forgeable();
    const editing = world({ store: here.store, edits });
    const id = await file(editing);
    const decision = approve({
      by: await person("dana"),
      edited: editedArguments("issue_refund", {}),
    });
    const result = await editing.records.decide({ scope, id, decision });
    if (result.status !== "superseded") throw new Error(result.status);
    forge("approvals", result.by, () => undefined);
    await expect(here.records.read(scope, id)).rejects.toThrow(withCode("record-tampered"));
  });
});

describe("a key", () => {
  it("R056 APR-28 that is another one opens nothing, and its absence is named without key bytes", async () => {
    const here = world();
    const id = await file(here);
    const after = new DeferredApproval(here.store, { keyring: processKeyring() });
    const error: unknown = await after.records.read(scope, id).catch((e: unknown) => e);
    expect(isApprovalError(error, "record-tampered")).toBe(true);
    expect(error).toMatchObject({
      approvalId: id,
      message: expect.stringMatching(/keyring/) as string,
      cause: expect.any(Error) as Error,
    });
  });

  it("APR-28 is required for a store that outlives the process, and one of this process is not enough", () => {
    const durable: ApprovalStore = { ...memoryApprovalStore(), durable: true };
    const make = (options: object) => () => new DeferredApproval(durable, options);
    expect(make({})).toThrow(withCode("key-required"));
    expect(make({ keyring: processKeyring() })).toThrow(withCode("key-required"));
    expect(make({ keyring })).not.toThrow();
    expect(() => new DeferredApproval(memoryApprovalStore())).not.toThrow();
    expect(
      () => new DeferredApproval(memoryApprovalStore(), { keyring: processKeyring() }),
    ).not.toThrow();
  });

  it("APR-28 of this process seals an in-memory store without one", async () => {
    const port = new DeferredApproval(memoryApprovalStore());
    const facts = { ...requestFor().toJSON(), arguments: {} };
    const request = requestOf(facts, { id: "apr-1", requestedAt: 0 });
    expect(await port.request(request, how())).toMatchObject({ status: "pending" });
  });
});

describe("the audit trail", () => {
  async function spent() {
    const { here, forge } = forgeable();
    const id = await file(here, { rule: { quorum: 2 } });
    await here.records.decide({ scope, id, decision: await yes("dana") });
    await here.records.decide({ scope, id, decision: await yes("erik") });
    await spend(here, id, "one");
    return { here, id, forge };
  }

  it("APR-22 is whole, and tells who did what when", async () => {
    const { here, id } = await spent();
    expect(await here.records.verifyAudit(scope, id)).toEqual({
      status: "whole",
      entries: [
        { number: 1, kind: "requested", at: 1_000_000, attemptId: "id-1", by: rita },
        { number: 2, kind: "voted", at: 1_000_000, attemptId: "id-2", by: dana, approved: true },
        { number: 3, kind: "decided", at: 1_000_000, attemptId: "id-3", by: erik, approved: true },
        { number: 4, kind: "consumed", at: 1_000_000, attemptId: "one", by: system },
      ],
    });
    expect(await here.records.verifyAudit(scope, "other")).toEqual({ status: "missing" });
  });

  it("APR-22 keeps notes, of a person and of a withdrawal", async () => {
    const here = world();
    const id = await file(here);
    const decision = approve({ by: await person("dana"), note: "looks fine" });
    await here.records.decide({ scope, id, decision });
    const end = { scope, id, attemptId: "x", reason: "cancelled", note: "policy-forbids" } as const;
    await here.store.commit("x", await here.records.withdraw(end));
    expect(await here.records.verifyAudit(scope, id)).toMatchObject({
      entries: [{}, { note: "looks fine" }, { kind: "withdrawn", note: "policy-forbids" }],
    });
  });

  const breaks: readonly (readonly [string, number, string, (f: Forgery, id: string) => void])[] = [
    [
      "an entry is gone",
      2,
      "missing",
      ({ forge }, id) => forge("approvalAudit", auditKey(id, 2), () => undefined),
    ],
    [
      "the last one is gone",
      4,
      "missing",
      ({ forge }, id) => forge("approvalAudit", auditKey(id, 4), () => undefined),
    ],
    [
      "an entry is changed",
      3,
      "altered",
      ({ forge }, id) =>
        forge("approvalAudit", auditKey(id, 3), (row) =>
          withValues(row, { sealed: String(row.values["sealed"]).replace("erik", "rita") }),
        ),
    ],
    [
      "an entry is no text",
      1,
      "altered",
      ({ forge }, id) =>
        forge("approvalAudit", auditKey(id, 1), (row) => withValues(row, { sealed: 7 })),
    ],
    [
      "an entry is another one's",
      2,
      "altered",
      ({ forge }, id) => {
        let first: Row["values"] = {};
        forge("approvalAudit", auditKey(id, 1), (row) => ((first = row.values), row));
        forge("approvalAudit", auditKey(id, 2), (row) => ({ ...row, values: first }));
      },
    ],
  ];
  it.each(breaks)(
    "APR-22 names the first broken entry where %s",
    async (_what, entry, fault, breakIt) => {
      const { here, id, forge } = await spent();
      breakIt({ here, forge }, id);
      const report = await here.records.verifyAudit(scope, id);
      expect(report).toMatchObject({ status: "broken", entry, fault });
      expect(report).toHaveProperty("entries.length", entry - 1);
    },
  );

  it("APR-22 shows an entry of an earlier life of the same record", async () => {
    // The same id filed twice, in two stores with one key: genuine entries, of another chain.
    const [one, two] = [await spent(), await spent()];
    const other = (await two.here.store.history(scope, two.id, 0, 9)).at(-1);
    one.forge("approvalAudit", auditKey(one.id, 4), (row) => ({ ...row, values: other!.values }));
    expect((await one.here.records.verifyAudit(scope, one.id)).status).toBe("whole");
    await two.here.records.conclude({ scope, id: two.id, attemptId: "one", outcome: "executed" });
    const third = await spentBy("anna");
    const foreign = (await third.store.history(scope, "apr-1", 2, 9))[0];
    one.forge("approvalAudit", auditKey(one.id, 3), (row) => ({ ...row, values: foreign!.values }));
    expect(await one.here.records.verifyAudit(scope, one.id)).toMatchObject({
      status: "broken",
      entry: 3,
      fault: "unchained",
    });
    const last = (await third.store.history(scope, "apr-1", 3, 9))[0];
    one.forge("approvalAudit", auditKey(one.id, 3), (row) => row);
    one.forge("approvalAudit", auditKey(one.id, 4), (row) => ({ ...row, values: last!.values }));
    expect(await one.here.records.verifyAudit(scope, one.id)).toMatchObject({ entry: 4 });
  });

  it("APR-22 names the last entry where it is genuine and the record knows another one there", async () => {
    const [one, twin] = [await spent(), await spent()];
    const other = world();
    const id = await file(other, { rule: { quorum: 2 } });
    await other.records.decide({ scope, id, decision: await yes("dana") });
    await other.records.decide({ scope, id, decision: await yes("erik") });
    await spend(other, id, "another-attempt");
    const last = (await other.store.history(scope, id, 3, 9))[0];
    one.forge("approvalAudit", auditKey(id, 4), (row) => ({ ...row, values: last!.values }));
    const report = await one.here.records.verifyAudit(scope, id);
    expect(report).toMatchObject({ status: "broken", entry: 4, fault: "unchained" });
    expect(report).toHaveProperty("entries.length", 3);
    expect((await twin.here.records.verifyAudit(scope, id)).status).toBe("whole");
  });

  it("APR-14 APR-22 keeps 200 late votes and no more, and is checked whole", async () => {
    const here = world();
    const id = await file(here, { rule: { quorum: 2 } });
    for (const who of ["a", "b"])
      await here.records.decide({ scope, id, decision: await yes(who) });
    for (let at = 0; at < 200; at += 1) {
      const late = here.records.decide({ scope, id, decision: await yes(`late-${at}`) });
      await expect(late).rejects.toThrow(withCode("approval-already-decided"));
    }
    const more = here.records.decide({ scope, id, decision: await yes("past-the-bound") });
    await expect(more).rejects.toThrow(withCode("approval-already-decided"));
    const report = await here.records.verifyAudit(scope, id);
    expect(report).toMatchObject({ status: "whole" });
    expect(report).toHaveProperty("entries.length", 203);
  });

  it("APR-27 leaves an entry out of the feed whose seal names no record", async () => {
    const { here, id, forge } = await spent();
    const header = { scope, id: 7, number: "1", before: "" };
    const { text } = sign(encode({}), { keyring, purpose: "approval-audit", header });
    forge("approvalAudit", auditKey(id, 1), (row) => withValues(row, { sealed: text }));
    expect((await here.records.changes(scope)).broken).toEqual([auditKey(id, 1)]);
    const half = { scope, id, number: "1", before: "" };
    const other = sign(encode({}), { keyring, purpose: "approval-audit", header: half });
    forge("approvalAudit", auditKey(id, 1), (row) => withValues(row, { sealed: other.text }));
    expect((await here.records.changes(scope)).broken).toEqual([auditKey(id, 1)]);
  });

  it("APR-22 APR-27 leaves a changed entry out of the feed and names it", async () => {
    const { here, id, forge } = await spent();
    forge("approvalAudit", auditKey(id, 3), (row) => withValues(row, { sealed: "{}" }));
    const changes = await here.records.changes(scope);
    expect(changes.broken).toEqual([auditKey(id, 3)]);
    expect(changes.events.map((event) => event.type)).toEqual([
      "approval.requested",
      "approval.consumed",
    ]);
    const other = (await here.store.history(scope, id, 0, 1))[0];
    forge("approvalAudit", auditKey(id, 3), (row) => ({ ...row, values: other!.values }));
    expect((await here.records.changes(scope)).broken).toEqual([auditKey(id, 3)]);
  });

  async function spentBy(who: string) {
    const here = world();
    const id = await file(here, { rule: { quorum: 2 } });
    await here.records.decide({ scope, id, decision: await yes(who) });
    await here.records.decide({ scope, id, decision: await yes("erik") });
    await spend(here, id, "one");
    return here;
  }

  const rita = { id: "rita", assurance: "verified" };
  const dana = { id: "dana", assurance: "verified" };
  const erik = { id: "erik", assurance: "verified" };
  const system = { id: "system", assurance: "none" };
});

async function denyForRun() {
  return deny({ by: await person("dana"), forRun: true });
}

async function keysOfDenials(
  { store }: { store: ApprovalStore },
  id: string,
): Promise<readonly string[]> {
  const key = denialKeyOf(requestFor());
  const row = await store.find(scope, key);
  return row?.values["id"] === id ? [key] : [];
}
