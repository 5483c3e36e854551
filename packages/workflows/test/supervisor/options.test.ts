import { memoryHome } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { memoryLeaseStore } from "../../src/index.ts";
import { rest } from "../timed-clock.ts";
import { desks, supervisorStore } from "./desks.ts";

const input = { orderId: "A-17" };

function codeOf(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    return `${Reflect.get(error as Error, "code")}: ${(error as Error).message}`;
  }
  return "made";
}

describe("a supervisor", () => {
  it.each([
    ["a session that is no id", { session: "" }, "a session is an id"],
    ["no worker", { workers: 0 }, "workers is a whole number from 1 to 256"],
    ["half a worker", { workers: 1.5 }, "workers is a whole number from 1 to 256"],
    ["too many workers", { workers: 257 }, "workers is a whole number from 1 to 256"],
    ["a short lease", { leaseMs: 299 }, "leaseMs is a whole number from 300 to 3600000"],
    ["a long lease", { leaseMs: 3_600_001 }, "leaseMs is a whole number from 300 to 3600000"],
    ["a poll that never comes", { pollMs: Infinity }, "pollMs is a whole number from 10 to 60000"],
    ["a busy poll", { pollMs: 9 }, "pollMs is a whole number from 10 to 60000"],
    ["no session to share", { sessions: { match: () => true, max: 0 } }, "max is a whole number"],
  ])("WF-20 is not made with %s, and says what is", (_, more, says) => {
    const made = codeOf(() => desks().open(more));
    expect(made).toContain(`option-invalid: ${says}`);
  });

  it("WF-20 is given one session, or sessions, and not both", () => {
    const both = { session: "desk", sessions: { match: () => true, max: 1 } };
    const { open } = desks();
    expect(codeOf(() => open({ session: undefined } as never))).toContain(
      "`session`, or `sessions`",
    );
    expect(codeOf(() => open(both))).toContain("`session`, or `sessions`");
  });

  it("WF-20 STORE-06 is not made over leases that are kept elsewhere: they would fence nothing", () => {
    const { clock, store, open } = desks();
    const leases = memoryLeaseStore(memoryHome({ clock }));
    expect(codeOf(() => open({ store: { ...store, leases } }))).toContain("option-invalid");
    const elsewhere = supervisorStore(memoryHome({ clock }));
    const runs = { ...store, runs: elsewhere.runs };
    expect(codeOf(() => open({ store: runs }))).toContain("option-invalid");
    const log = { ...store, log: elsewhere.log };
    expect(codeOf(() => open({ store: log }))).toContain("option-invalid");
  });

  it("WF-27 does nothing before it is active nor after, and is activated once", async () => {
    const desk = desks().open();
    const early = { code: "not-active", message: "this supervisor was not activated yet" };
    await expect(desk.start("refund", input)).rejects.toMatchObject(early);
    await expect(desk.cancel("run-1", { reason: "no" })).rejects.toMatchObject(early);
    expect(desk.ready()).toEqual({ ready: false, sessions: [] });
    await desk.activate();
    expect(desk.ready().ready).toBe(true);
    const again = { code: "not-active", message: "this supervisor was activated before" };
    await expect(desk.activate()).rejects.toMatchObject(again);
    await desk.shutdown();
    const late = { code: "not-active", message: "this supervisor has been shut down" };
    await expect(desk.start("refund", input)).rejects.toMatchObject(late);
    await expect(desk.activate()).rejects.toMatchObject(late);
    expect(desk.ready().ready).toBe(false);
    expect(await desk.shutdown()).toMatchObject({}); // and again is no fault
  });

  it("WF-20 names the one session of those that it shares, and asks which where it has several", async () => {
    const { activated, open } = desks();
    for (const session of ["a", "b"]) await (await activated({ session })).shutdown();
    const one = open({ sessions: { match: (name) => name === "a", max: 2 } });
    await one.activate();
    const { runId } = await one.start("refund", input);
    await rest();
    expect((await one.get(runId))?.session).toBe("a");
    await one.shutdown();
    const two = open({ sessions: { match: () => true, max: 2 } });
    await two.activate();
    await expect(two.start("refund", input)).rejects.toMatchObject({ code: "option-invalid" });
    await expect(two.start("refund", input, { session: "c" })).rejects.toMatchObject({
      code: "session-owned",
    });
    const { runId: named } = await two.start("refund", input, { session: "b" });
    expect((await two.get(named))?.session).toBe("b");
  });
});
