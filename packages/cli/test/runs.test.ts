import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { approve, unverified } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { bank } from "./desk/refund.ts";
import { deskFolder, freshFolder, holdpoint, program } from "./place.ts";

async function waiting(cents = 500) {
  const folder = freshFolder();
  const file = join(folder, "desk.db");
  const desk = await program(file);
  const { runId } = await desk.supervisor.start("refund", { orderId: "A-17", cents });
  const { waitsFor } = await desk.supervisor.settled(runId);
  const on = (...words: string[]) => holdpoint(deskFolder, ...words, "--store", file);
  return { folder, file, desk, runId, id: waitsFor[0]!.approvalId!, on };
}

describe("runs on the command line", () => {
  it("DESK-30 WF-34 are listed and shown, with why one stands where it stands", async () => {
    const { runId, id, on } = await waiting();
    expect((await on("runs", "list")).out).toMatch(new RegExp(`${runId}.*refund 1.*interrupted`));
    expect((await on("runs", "list", "--status", "completed")).out).toBe(
      "there are no such runs\n",
    );
    const shown = await on("runs", "show", runId);
    expect(shown.out).toContain(`waits for ${id}: pay at pay#1`);
    expect(await on("runs", "show", "nobody")).toMatchObject({ code: 1, out: "" });
  });

  it("DESK-30 WF-13 tell what happened to them, in order and by pages", async () => {
    const { runId, on } = await waiting();
    const whole = (await on("runs", "history", runId, "--json")).json()["items"];
    expect(whole.map(({ revision }: { revision: number }) => revision)).toEqual(
      whole.map((_: unknown, at: number) => at + 1),
    );
    const first = await on("runs", "history", runId, "--limit", "2");
    expect(first.out).toContain("--after 2");
    const rest = (await on("runs", "history", runId, "--after", "2", "--json")).json()["items"];
    expect(rest).toEqual(whole.slice(2));
  });

  it("DESK-30 WF-26 are cancelled by whoever has their session, with a reason", async () => {
    const { runId, desk, on } = await waiting();
    expect(await on("runs", "cancel", runId)).toMatchObject({ code: 2 });
    const said = await on("runs", "cancel", runId, "--reason", "not needed\u001B[2J");
    expect(said).toMatchObject({ code: 0 });
    await desk.until(runId, "cancelled");
    const shown = await on("runs", "show", runId);
    expect(shown.out).toContain("not needed\\u{1b}[2J (dana)");
    expect(shown.out).not.toContain("\u001B");
  });

  it("DESK-30 WF-29 are retried here where nobody has their session, and refused where somebody has", async () => {
    const { runId, id, desk, on } = await waiting(1_000);
    expect((await on("runs", "retry", runId)).err).toContain("only a failed one");
    await desk.supervisor.decide(id, approve({ by: unverified("kim") }));
    await desk.until(runId, "failed");
    const held = await on("runs", "retry", runId, "--json");
    expect(held.json()).toMatchObject({ error: { code: "session-owned" } });
    expect((await on("doctor")).out).toContain("moved by `retry`, by hand");
    await desk.end();
    bank.down = false;
    const said = await on("runs", "retry", runId);
    bank.down = true;
    expect(said.out).toBe(`run ${runId} is interrupted\n`); // a failed call asks anew
  });

  it("DESK-30 STORE-09 are exported, checked offline, and taken out once they have ended", async () => {
    const { folder, runId, id, desk, on } = await waiting();
    expect((await on("runs", "delete", runId, "--yes")).err).toContain("cancel it first");
    await desk.supervisor.decide(id, approve({ by: unverified("kim") }));
    await desk.until(runId, "completed");
    const out = join(folder, "run.txt");
    expect(await on("runs", "export", runId, "--out", out)).toMatchObject({ code: 0 });
    expect(await on("runs", "export", runId, "--out", out)).toMatchObject({ code: 1 });
    const whole = await holdpoint(deskFolder, "runs", "verify", out);
    expect(whole.out).toContain(`whole: run ${runId}, completed`);
    expect((await on("runs", "export", runId)).out.trimEnd()).toBe(
      readFileSync(out, "utf8").trimEnd(),
    );
    writeFileSync(out, readFileSync(out, "utf8").replace("A-17", "A-18"));
    expect(await holdpoint(deskFolder, "runs", "verify", out)).toMatchObject({ code: 3 });
    expect(await on("runs", "delete", runId)).toMatchObject({ code: 2 });
    expect(await on("runs", "delete", runId, "--yes")).toMatchObject({ code: 0 });
    expect((await on("runs", "list")).out).toBe("there are no such runs\n");
  });

  it("DESK-30 FLOW-64 say what each node would do, were they resumed", async () => {
    const { runId, id, desk, on } = await waiting();
    const waits = await on("plan", runId);
    expect(waits).toMatchObject({ code: 3 });
    expect(waits.out).toMatch(/assess +keep +finished/);
    expect(waits.out).toMatch(new RegExp(`pay +blocked +waits +${id}`));
    await desk.end();
    await holdpoint(deskFolder, "approvals", "approve", id, "--store", join(deskFolder, "none.db"));
    expect((await on("approvals", "approve", id)).code).toBe(0);
    const goes = await on("plan", runId);
    expect(goes.out).toMatch(/pay +re-run +answered/);
    expect(goes.code).toBe(0);
  });

  it("DESK-30 WF-34 that nobody has are found by the doctor, and those that wait are not", async () => {
    const { file, runId, desk, on } = await waiting();
    expect(await on("doctor")).toMatchObject({ code: 0 });
    await desk.end();
    const found = await on("doctor", "--json");
    expect(found.code).toBe(3);
    expect(found.json()).toMatchObject({
      looked: 1,
      findings: [{ runId, why: "session-of-nobody" }],
    });
    expect(file).toBeTruthy();
  });
});
