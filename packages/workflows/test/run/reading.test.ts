import { approve } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { dana, rita, world } from "../world.ts";

const input = { orderId: "A-17" };

describe("reading runs", () => {
  it("WF-13 gives a contiguous history, page by page, without anything that a run holds", async () => {
    const { open } = world();
    const { desk } = open();
    const { runId } = await desk.start("refund", input);
    const { waitsFor } = await desk.settled(runId);
    await desk.decide(waitsFor[0]!.id, approve({ by: dana, note: "the note is private" }));
    await desk.settled(runId);
    const whole = await desk.history(runId, { limit: 500 });
    expect(whole.map(({ revision }) => revision)).toEqual(whole.map((_, at) => at + 1));
    expect(whole[0]?.type).toBe("run-started");
    expect(whole.at(-1)?.type).toBe("completed");
    expect(whole.find(({ type }) => type === "answered")).toMatchObject({
      visit: "review#1",
      by: "dana",
      approvalId: waitsFor[0]!.id,
    });
    const pages = [];
    for (let after = 0; after < whole.length; after += 4) {
      pages.push(...(await desk.history(runId, { after, limit: 4 })));
    }
    expect(pages).toEqual(whole);
    expect(await open().desk.history(runId, { limit: 500 })).toEqual(whole);
    const text = JSON.stringify(whole);
    for (const held of ["A-17", "20000", "private", "r-1"]) expect(text).not.toContain(held);
  });

  it("WF-13 has no history of a run that was not executed yet", async () => {
    const { open, homes } = world();
    const { desk } = open();
    const { runId } = await desk.start("refund", input);
    expect(homes.log.rows("log", "default")).toEqual([]);
    expect(await open().desk.history(runId)).toEqual([]);
    await desk.waitIdle();
  });

  it("WF-11 lists runs by status, definition and session, page by page", async () => {
    const { open, clock } = world();
    const { desk } = open();
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      clock.move(1);
      ids.push((await desk.start("refund", { orderId: `A-${at}` })).runId);
    }
    await desk.waitIdle();
    const first = await desk.list({ order: "oldest", limit: 3 });
    expect(first.items.map(({ runId }) => runId)).toEqual(ids.slice(0, 3));
    const from = { cursor: first.cursor! };
    const rest = await desk.list({ order: "oldest", limit: 3, ...from });
    expect(rest.items.map(({ runId }) => runId)).toEqual(ids.slice(3));
    expect(rest.cursor).toBeUndefined();
    expect((await desk.list({ filter: { status: "interrupted" } })).items).toHaveLength(5);
    expect((await desk.list({ filter: { status: "running" } })).items).toEqual([]);
    expect((await desk.list({ filter: { definition: "other" } })).items).toEqual([]);
    await expect(desk.list({ order: "newest", limit: 3, ...from })).rejects.toMatchObject({
      code: "cursor-invalid",
    });
    await expect(desk.list({ cursor: `${first.cursor}x` })).rejects.toMatchObject({
      code: "cursor-invalid",
    });
  });

  it.each([
    { filter: { state: "pending" } },
    { filter: { status: undefined } },
    { filter: { status: "waiting" } },
    { filter: [] },
    { order: "random" },
    { limit: 0 },
    { limit: 501 },
    { limit: 1.5 },
  ])("WF-11 refuses a list of %o", async (query) => {
    const { desk } = world().open();
    await expect(desk.list(query as never)).rejects.toMatchObject({ code: "filter-invalid" });
  });

  it("WF-31 shows views that nobody can change", async () => {
    const { desk } = world().open();
    const view = await desk.start("refund", input, { requestedBy: rita });
    expect(Object.isFrozen(view)).toBe(true);
    await desk.waitIdle();
  });
});
