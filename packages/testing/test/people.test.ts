import { approve, askApproval } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { scriptedAnswers, scriptedPeople, verified } from "../src/index.ts";
import { how, request, scope, stage } from "./stage.ts";

describe("scripted people", () => {
  it("TEST-02 decide in the order of the lines, each the oldest request that fits it", async () => {
    const here = stage();
    for (const [id, tool] of [
      ["a", "issue_refund"],
      ["b", "deploy"],
      ["c", "issue_refund"],
    ] as const) {
      await here.port.request(request(id, {}, tool), how());
      here.clock.move(1);
    }
    const people = scriptedPeople(
      [
        { who: "dana", says: "approve", to: { tool: "deploy" }, note: "fine" },
        { who: "erik", says: "deny" },
        { who: "erik", says: "approve", to: { runId: "run-1" }, edit: { cents: 1 } },
      ],
      here,
    );
    expect(people.left).toBe(3);
    const said = await people.all();
    expect(said.map(({ id }) => id)).toEqual(["b", "a", "c"]);
    expect(said).toMatchObject([
      { result: { decision: { approved: true, by: { id: "dana" }, note: "fine" } } },
      { result: { decision: { approved: false, by: { id: "erik" } } } },
      { result: { decision: { approved: true, edited: { arguments: { cents: 1 } } } } },
    ]);
    expect(people.left).toBe(0);
  });

  it("TEST-02 decide when the line says, and are refused when that is too late", async () => {
    const here = stage();
    await here.port.request(request("a", { expiresInMs: 60_000 }), how());
    const people = scriptedPeople(
      [
        { who: "dana", says: "approve", afterMs: 60_000 },
        { who: "dana", says: "approve", to: { id: "a" } },
      ],
      here,
    );
    const late = await people.next();
    expect(late).toMatchObject({ id: "a", refused: { code: "approval-expired" } });
    expect(await people.next()).toMatchObject({ refused: { code: "approval-expired" } });
  });

  it("TEST-02 have roles, make a quorum, and deny for the run", async () => {
    const here = stage();
    await here.port.request(request("a", { approvers: ["role:finance"], quorum: 2 }), how());
    const people = scriptedPeople(
      [
        { who: "mallory", says: "approve" },
        { who: "dana", roles: ["finance"], says: "approve" },
        { who: "erik", roles: ["ops", "finance"], says: "deny", forRun: true },
      ],
      here,
    );
    expect(await people.all()).toMatchObject([
      { refused: { code: "actor-not-eligible" } },
      { result: { status: "open", missing: 1 } },
      { result: { decision: { approved: false, forRun: true } } },
    ]);
  });

  it("TEST-02 fail the test where nothing waits for a line, or the script is over", async () => {
    const here = stage();
    const people = scriptedPeople([{ who: "dana", says: "deny", to: { id: "a" } }], here);
    await here.port.request(request("b"), how());
    await expect(people.next()).rejects.toThrow("nothing waits for dana to deny");
    await expect(people.next()).rejects.toThrow("no line left");
    const { clock: _without, ...rest } = here;
    const timeless = scriptedPeople([{ who: "dana", says: "deny", afterMs: 1 }], rest);
    await expect(timeless.next()).rejects.toThrow("needs a clock");
  });

  it("TEST-02 pass on what is no refusal", async () => {
    let broken = false;
    const here = stage((store) => ({
      ...store,
      commit: (...commit) =>
        broken ? Promise.reject(new RangeError("bug")) : store.commit(...commit),
    }));
    await here.port.request(request("a"), how());
    broken = true;
    const people = scriptedPeople([{ who: "dana", says: "deny" }], here);
    await expect(people.next()).rejects.toThrow(RangeError);
  });

  it("TEST-02 answer the questions of an asking port by the line that fits", async () => {
    const port = askApproval(
      scriptedAnswers([
        { who: "dana", says: "deny", to: { tool: "deploy" } },
        { who: "erik", says: "approve", to: { id: "a" } },
      ]),
    );
    expect(await port.request(request("a"), how())).toMatchObject({
      decision: { approved: true, by: { id: "erik" } },
    });
    expect(await port.request(request("a"), how())).toEqual({ status: "pending" });
    expect(await port.request(request("b", {}, "deploy"), how())).toMatchObject({
      decision: { approved: false, by: { id: "dana" } },
    });
  });

  it("TEST-02 are actors that records take", async () => {
    const dana = await verified("dana", "finance");
    expect(dana).toEqual({ id: "dana", assurance: "verified", roles: ["finance"] });
    expect(await verified("erik")).toEqual({ id: "erik", assurance: "verified" });
    expect(() => approve({ by: dana })).not.toThrow();
    expect(scope).toBe("acme");
  });
});
