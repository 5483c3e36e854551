import { DeferredApproval, memoryRemover, type MemoryHome } from "@holdpoint/approvals";
import { approve, deny, FlowRunner, replies } from "@holdpoint/flow";
import { createKeyring } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";

import { workflowFacts } from "../../src/definition/facts.ts";
import { Retention, verifyExport } from "../../src/index.ts";
import { storesOn } from "../faulty-stores.ts";
import { dana, keyring, world } from "../world.ts";

const day = 86_400_000;

function keeping(here: ReturnType<typeof world>) {
  const { store, clock, homes } = here;
  const removal = [...new Set<MemoryHome>(Object.values(homes))].map((home) => memoryRemover(home));
  return new Retention({ store, removal, keyring, clock });
}

type World = ReturnType<typeof world>;

/** A request that waits; with `to`, carried on to there. */
async function request(here: World, orderId: string, to?: "completed" | "cancelled") {
  const { desk } = here.open();
  const { runId } = await desk.start("refund", { orderId }, { key: orderId });
  const { waitsFor } = await desk.settled(runId);
  if (to === "completed") await desk.decide(waitsFor[0]!.id, approve({ by: dana }));
  if (to === "cancelled") await desk.cancel(runId, { reason: "no more" });
  await desk.settled(runId);
  return { runId, approvalId: waitsFor[0]!.id };
}

/** Keys of all rows that are kept, by table. */
function kept({ homes }: World): Record<string, number> {
  const tables = [
    "approvals",
    "approvalKeys",
    "approvalAudit",
    "log",
    "snapshots",
    "runs",
    "runKeys",
  ];
  const count = (table: string): number =>
    Math.max(...Object.values(homes).map((home) => home.rows(table, "default").length));
  return Object.fromEntries(tables.map((table) => [table, count(table)]));
}

const nothing = {
  approvals: 0,
  approvalKeys: 0,
  approvalAudit: 0,
  log: 0,
  snapshots: 0,
  runs: 0,
  runKeys: 0,
};

describe.each(["together", "apart"] as const)("keeping house over stores %s", (how) => {
  it("STORE-09 takes out what ended long ago, and neither what ended lately nor what waits", async () => {
    const here = world(how);
    const waits = await request(here, "A-1");
    await request(here, "A-2", "completed");
    await request(here, "A-3", "cancelled");
    here.clock.move(30 * day);
    const late = await request(here, "A-4", "completed");
    const { removed, broken, more } = await keeping(here).purge({ olderThanMs: 7 * day });
    expect([removed.length, broken, more]).toEqual([2, [], false]);
    const { desk } = here.open();
    const left = (await desk.list()).items.map(({ runId, status }) => [runId, status] as const);
    expect(new Map(left)).toEqual(
      new Map([
        [waits.runId, "interrupted"],
        [late.runId, "completed"],
      ]),
    );
    expect(kept(here)).toMatchObject({ approvals: 2, approvalKeys: 2, runs: 2, runKeys: 2 });
    // What waited goes on as if nothing had been.
    await desk.decide(waits.approvalId, approve({ by: dana }));
    expect((await desk.settled(waits.runId)).status).toBe("completed");
    here.clock.move(30 * day);
    await keeping(here).purge({ olderThanMs: day });
    expect(kept(here)).toEqual(nothing);
  });

  it("STORE-09 works in bounded batches, and says whether there is more", async () => {
    const here = world(how);
    for (let at = 0; at < 5; at += 1) await request(here, `A-${at}`, "completed");
    here.clock.move(day);
    const retention = keeping(here);
    const first = await retention.purge({ olderThanMs: 1, runsMax: 3 });
    expect([first.removed.length, first.more]).toEqual([3, true]);
    const second = await retention.purge({ olderThanMs: 1, runsMax: 3 });
    expect([second.removed.length, second.more]).toEqual([2, false]);
    expect(kept(here)).toEqual(nothing);
  });

  it("STORE-09 takes one run out with its records, and refuses one that has not ended", async () => {
    const here = world(how);
    const waits = await request(here, "A-1");
    const done = await request(here, "A-2", "completed");
    const retention = keeping(here);
    const before = kept(here);
    await expect(retention.remove(waits.runId)).rejects.toMatchObject({ code: "status-wrong" });
    await expect(retention.remove("run-9")).rejects.toMatchObject({ code: "run-not-found" });
    expect(kept(here)).toEqual(before);
    await retention.remove(done.runId);
    expect(kept(here)).toMatchObject({ approvals: 1, approvalKeys: 1, runs: 1, runKeys: 1 });
    const { desk } = here.open();
    expect(await desk.get(done.runId)).toBeUndefined();
    // Its start key is free again: what is started under it is another run.
    const again = await desk.start("refund", { orderId: "A-2" }, { key: "A-2" });
    expect(again.runId).not.toBe(done.runId);
  });

  it("STORE-09 FLOW-73 leaves the logs of others whole", async () => {
    const here = world(how);
    const [one, other] = [
      await request(here, "A-1", "completed"),
      await request(here, "A-2", "completed"),
    ];
    await keeping(here).remove(one.runId);
    const { refund } = here.open();
    const runner = new FlowRunner({ log: here.store.log, keyring });
    const events = await runner.history(workflowFacts(refund).flow, other.runId);
    expect(events.at(-1)?.type).toBe("completed");
    const text = await keeping(here).export(other.runId);
    expect((await verifyExport(text, { keyring })).status).toBe("whole");
  });

  it("STORE-09 takes nothing out of a run that its own seal says is waiting, whatever a column says", async () => {
    const here = world(how);
    const { runId } = await request(here, "A-1");
    const row = here.homes.runs.row("runs", "default", runId)!;
    const altered = { ...row, values: { ...row.values, status: "completed" } };
    const runs = { ...here.store.runs, list: async () => [altered] };
    const removal = [...new Set(Object.values(here.homes))].map((home) => memoryRemover(home));
    here.clock.move(30 * day);
    const retention = new Retention({
      store: { ...here.store, runs },
      removal,
      keyring,
      clock: here.clock,
    });
    const before = kept(here);
    const { removed, broken } = await retention.purge({ olderThanMs: day, runsMax: 1 });
    expect(removed).toEqual([]);
    expect(broken).toMatchObject([{ runId, error: { code: "record-tampered" } }]);
    expect(kept(here)).toEqual(before);
  });

  it("STORE-09 keeps what is left of a run that somebody takes up meanwhile", async () => {
    const here = world(how);
    const { runId } = await request(here, "A-1", "completed");
    const { runs } = here.homes;
    const removers = [...new Set<MemoryHome>(Object.values(here.homes))].map((home) => {
      const remover = memoryRemover(home);
      return {
        home: remover.home,
        remove: async (removal: Parameters<typeof remover.remove>[0]) => {
          const row = runs.row("runs", "default", runId)!;
          const { key, version, values } = row;
          const moves = { statement: "runs.put", scope: "default", key, expect: version, values };
          await runs.commit(`moves-${version}`, [moves]);
          return remover.remove(removal);
        },
      };
    });
    const { store, clock } = here;
    const retention = new Retention({ store, removal: removers, keyring, clock });
    await expect(retention.remove(runId)).rejects.toMatchObject({ code: "run-moved" });
    expect(kept(here)).toMatchObject({ runs: 1, runKeys: 1 });
  });

  it("STORE-09 finds a run again that it had begun to take out", async () => {
    const here = world(how);
    const { runId } = await request(here, "A-1", "completed");
    here.clock.move(30 * day);
    let left = 1;
    const removal = [...new Set<MemoryHome>(Object.values(here.homes))].map((home) => {
      const remover = memoryRemover(home);
      return {
        home: remover.home,
        remove: async (rows: Parameters<typeof remover.remove>[0]) => {
          const half = { ...rows, rows: rows.rows.slice(0, rows.rows.length >> 1) };
          if (left-- > 0) await remover.remove(half);
          throw new Error("the process is gone");
        },
      };
    });
    const { store, clock } = here;
    const dying = new Retention({ store, removal, keyring, clock });
    await expect(dying.purge({ olderThanMs: day })).rejects.toMatchObject({
      code: "store-unavailable",
    });
    const { desk } = here.open();
    expect(await desk.adoptAll()).toEqual([]);
    expect((await desk.get(runId))?.status).toBe("completed");
    expect((await keeping(here).purge({ olderThanMs: day })).removed).toEqual([runId]);
    expect(kept(here)).toEqual(nothing);
  });
});

it("STORE-09 FLOW-54 leaves nothing to spend to whoever kept a checkpoint of a run that was taken out", async () => {
  const here = world();
  const { store, effects, clock } = here;
  const { desk, refund } = here.open();
  const { runId } = await desk.start("refund", { orderId: "A-1" });
  const { waitsFor } = await desk.settled(runId);
  const approvals = new DeferredApproval(store.approvals, { keyring });
  const runner = new FlowRunner({ log: store.log, approvals, keyring, clock });
  const { flow } = workflowFacts(refund);
  const held = await runner.adopt(flow, runId);
  if (held.status !== "paused") throw new Error(held.status);
  const text = runner.dumpCheckpoint(held.checkpoint);
  await desk.decide(waitsFor[0]!.id, approve({ by: dana }));
  await desk.settled(runId);
  expect(effects.paid).toHaveLength(1);
  await keeping(here).remove(runId);
  const reply = replies({ [waitsFor[0]!.id]: approve({ by: dana }) });
  await expect(
    runner.resume(flow, runner.loadCheckpoint(flow, text), reply),
  ).rejects.toBeInstanceOf(Error);
  expect(effects.paid).toHaveLength(1);
});

it("STORE-09 refuses stores that it can't take anything out of", () => {
  const { store, homes } = world("apart");
  const removal = memoryRemover(homes.log);
  expect(() => new Retention({ store, removal, keyring })).toThrow(
    expect.objectContaining({ code: "option-invalid" }),
  );
});

describe("an export", () => {
  async function exported() {
    const here = world();
    const one = await request(here, "A-1", "completed");
    const other = await request(here, "A-2", "completed");
    const retention = keeping(here);
    return {
      ...one,
      text: await retention.export(one.runId),
      foreign: await retention.export(other.runId),
    };
  }

  it("STORE-09 carries its seals, and verifies with the keys alone", async () => {
    const { text, runId, approvalId } = await exported();
    const report = await verifyExport(text, { keyring });
    expect(report).toMatchObject({ status: "whole", run: { runId, status: "completed" } });
    if (report.status !== "whole") return;
    expect(report.events).toBe(report.run.revision);
    expect(report.approvals).toMatchObject([{ id: approvalId, audit: { status: "whole" } }]);
    expect(report.approvals[0]?.audit).toMatchObject({
      entries: [
        { kind: "requested" },
        { kind: "decided", by: { id: "dana" } },
        { kind: "consumed" },
      ],
    });
  });

  it("STORE-09 CASE-178 shows that a denied run's call was not made, and no line can say that it was", async () => {
    const here = world();
    const { desk } = here.open();
    const { runId } = await desk.start("refund", { orderId: "A-1" }, { key: "A-1" });
    const { waitsFor } = await desk.settled(runId);
    await desk.decide(waitsFor[0]!.id, deny({ by: dana }));
    await desk.settled(runId);
    const text = await keeping(here).export(runId);
    const report = await verifyExport(text, { keyring });
    expect(report).toMatchObject({
      status: "whole",
      run: { status: "failed" },
      approvals: [
        { audit: { entries: [{ kind: "requested" }, { kind: "decided" }, { kind: "consumed" }] } },
      ],
    });
    expect(here.effects.paid).toEqual([]);
    // A genuine line of another run, in which the call was made.
    const paid = await request(here, "A-2", "completed");
    const foreign = (await keeping(here).export(paid.runId)).trimEnd().split("\n");
    for (const line of foreign.slice(1)) {
      const forged = `${text.trimEnd()}\n${line}\n`;
      expect(await verifyExport(forged, { keyring })).toMatchObject({ status: "broken" });
    }
  });

  it("STORE-09 of a run that waits verifies too", async () => {
    const here = world();
    const { runId } = await request(here, "A-1");
    const text = await keeping(here).export(runId);
    expect(await verifyExport(text, { keyring })).toMatchObject({
      status: "whole",
      run: { status: "interrupted" },
    });
  });

  it("STORE-09 CASE-176 is refused where a line of it was changed, left out, added, moved or put from elsewhere", async () => {
    const { text, foreign } = await exported();
    const [head = "", ...lines] = text.trimEnd().split("\n");
    const others = foreign.trimEnd().split("\n").slice(1);
    const made = (of: readonly string[]): string => `${[head, ...of].join("\n")}\n`;
    const touched = [
      ...lines.map((_, at) => made(lines.filter((_line, other) => other !== at))),
      ...lines.map((line, at) =>
        made(
          lines.with(
            at,
            line.replace(/[a-z](?=[^a-z]*$)/, (last) => (last === "z" ? "y" : "z")),
          ),
        ),
      ),
      ...lines.map((_, at) => made(lines.with(at, others[at]!))),
      made(lines.toReversed()),
      made([...lines, lines[0]!]),
      text.trimEnd(),
      text.slice(0, text.length >> 1),
      foreign.split("\n")[0] + text.slice(head.length),
      "",
    ];
    for (const each of touched) {
      const report = await verifyExport(each, { keyring });
      expect(report).toMatchObject({ status: "broken", what: "text" });
    }
  });

  it("STORE-09 is refused under another key, and where its rows were not whole when it was made", async () => {
    const { text } = await exported();
    const other = createKeyring({ current: { id: "k1", key: new Uint8Array(32).fill(8) } });
    expect(await verifyExport(text, { keyring: other })).toMatchObject({ status: "broken" });
    const here = world();
    const { runId, approvalId } = await request(here, "A-1", "completed");
    const cases: readonly [string, string][] = [
      ["approvalAudit", `${approvalId}/00000002`],
      ["log", `${runId}/000000000003`],
    ];
    for (const [table, hidden] of cases) {
      const home: MemoryHome = Object.create(here.homes.log);
      home.rows = (of, scope, range) =>
        here.homes.log.rows(of, scope, range).filter(({ key }) => of !== table || key !== hidden);
      const store = storesOn({ approvals: home, log: home, runs: home });
      const retention = new Retention({ store, removal: memoryRemover(here.homes.log), keyring });
      const report = await verifyExport(await retention.export(runId), { keyring });
      expect(report).toMatchObject({
        status: "broken",
        what: table === "log" ? "log" : "approval",
      });
    }
  });
});
