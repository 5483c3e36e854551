import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { bank } from "./desk/refund.ts";
import { deskFolder, freshFolder, holdpoint, program } from "./place.ts";

/** A run that waits for its payment, in a file. */
async function waiting(cents = 500) {
  const file = join(freshFolder(), "desk.db");
  const desk = await program(file);
  const { runId } = await desk.supervisor.start("refund", { orderId: "A-17", cents });
  const { waitsFor } = await desk.supervisor.settled(runId);
  return { file, desk, runId, id: waitsFor[0]!.approvalId! };
}

describe("approvals on the command line", () => {
  it("DESK-30 are listed, shown without their arguments, and with them where that is asked for", async () => {
    const { file, runId, id } = await waiting();
    const list = await holdpoint(deskFolder, "approvals", "list", "--store", file);
    expect(list).toMatchObject({ code: 0, err: "" });
    expect(list.out).toContain(id);
    expect(list.out).toMatch(/pay .*pending/);
    const shown = await holdpoint(deskFolder, "approvals", "show", id, "--store", file);
    expect(shown.out).toContain(runId);
    expect(shown.out).not.toContain("A-17");
    expect(shown.out).toContain("--arguments shows them");
    const all = await holdpoint(deskFolder, "approvals", "show", id, "--arguments", "--store", file); // prettier-ignore
    expect(all.out).toContain('{"orderId":"A-17","cents":500}');
  });

  it("DESK-30 are decided by the config's person, once, and the program that runs the workflow goes on", async () => {
    const { file, desk, runId, id } = await waiting();
    const before = bank.paid.length;
    const digest = (await holdpoint(deskFolder, "approvals", "show", id, "--json", "--store", file)).json()["argumentsDigest"]; // prettier-ignore
    const other = await holdpoint(deskFolder, "approvals", "approve", id, "--digest", "another", "--store", file); // prettier-ignore
    expect(other.code).toBe(1);
    const said = await holdpoint(deskFolder, "approvals", "approve", id, "--digest", digest, "--note", "seen", "--json", "--store", file); // prettier-ignore
    expect(said).toMatchObject({ code: 0, err: "" });
    expect(said.json()).toMatchObject({ id, status: "decided", decision: { approved: true } });
    await desk.until(runId, "completed");
    expect(bank.paid.slice(before)).toEqual([{ orderId: "A-17", cents: 500 }]);
    const again = await holdpoint(deskFolder, "approvals", "approve", id, "--store", file);
    expect(again).toMatchObject({ code: 0 });
    expect(again.out).toContain("nothing was changed");
    const late = await holdpoint(deskFolder, "approvals", "deny", id, "--store", file);
    expect(late).toMatchObject({ code: 1, out: "" });
    expect(late.err).toContain("is already approved");
  });

  it("DESK-30 are denied with a note", async () => {
    const { file, desk, runId, id } = await waiting();
    const said = await holdpoint(deskFolder, "approvals", "deny", id, "--note", "no receipt", "--store", file); // prettier-ignore
    expect(said.out).toContain("denied");
    await desk.until(runId, "failed");
    const shown = await holdpoint(deskFolder, "approvals", "show", id, "--store", file);
    expect(shown.out).toContain("no receipt");
  });

  it("DESK-30 are approved with other arguments, which the tool's schema checks", async () => {
    const { file, desk, runId, id } = await waiting();
    const edits = join(freshFolder(), "edits.json");
    writeFileSync(edits, '{"orderId":"A-17","cents":-1}');
    const approve = ["approvals", "approve", id, "--edits", edits, "--store", file];
    expect(await holdpoint(deskFolder, ...approve)).toMatchObject({ code: 1 });
    writeFileSync(edits, "{");
    expect(await holdpoint(deskFolder, ...approve)).toMatchObject({ code: 1 });
    writeFileSync(edits, '{"orderId":"A-17","cents":321}');
    expect(await holdpoint(deskFolder, ...approve)).toMatchObject({ code: 0 });
    await desk.until(runId, "completed");
    expect(bank.paid.at(-1)).toEqual({ orderId: "A-17", cents: 321 });
    const shown = await holdpoint(deskFolder, "approvals", "show", id, "--arguments", "--store", file); // prettier-ignore
    expect(shown.out).toContain("changed by who decided");
  });

  it("DESK-30 DESK-25 can't be decided by nobody, nor under no key", async () => {
    const { file, id } = await waiting();
    const nobody = await holdpoint(freshFolder(), "approvals", "approve", id, "--json", "--store", file); // prettier-ignore
    expect(nobody.code).toBe(1);
    expect(nobody.json()).toMatchObject({ error: { code: "config-lacks" } });
    const unseen = await holdpoint(freshFolder(), "approvals", "show", id, "--store", file);
    expect(unseen.err).toContain("keyring");
  });

  it("DESK-30 are listed without a key as the columns say, and it is said that nothing vouches for them", async () => {
    const { file, id } = await waiting();
    const list = await holdpoint(freshFolder(), "approvals", "list", "--store", file);
    expect(list).toMatchObject({ code: 0 });
    expect(list.out).toContain(id);
    expect(list.out).toContain("nothing of this was verified");
  });

  it("DESK-30 are listed page by page, by what a page says itself", async () => {
    const { file, id } = await waiting();
    await waitingBeside(file);
    const list = (...more: string[]) =>
      holdpoint(deskFolder, "approvals", "list", "--limit", "1", "--store", file, ...more);
    const first = await list();
    expect(first.out).toContain(id);
    const [, cursor] = /--cursor '(.*)'$/m.exec(first.out)!;
    const second = await list("--cursor", cursor!);
    expect(second.code).toBe(0);
    expect(second.out).not.toContain(id);
    expect(await list("--cursor", cursor!.replace("v", "w"))).toMatchObject({ code: 1 });
  });

  it("DESK-30 APR-22 are checked with their trails, and what was touched is named", async () => {
    const { file, id, desk } = await waiting();
    await waitingBeside(file);
    expect(await holdpoint(deskFolder, "audit", "verify", "--store", file)).toMatchObject({
      code: 0,
      out: "2 checked, 0 broken\n",
    });
    await desk.end();
    const database = new DatabaseSync(file);
    database.exec("UPDATE approvalAudit SET sealed = replace(sealed, 'requested', 'forgotten')");
    database.close();
    const broken = await holdpoint(deskFolder, "audit", "verify", id, "--store", file);
    expect(broken).toMatchObject({ code: 3 });
    expect(broken.out).toContain("entry 1");
    const none = await holdpoint(deskFolder, "audit", "verify", "nobody", "--json", "--store", file); // prettier-ignore
    expect(none.json()).toMatchObject({ error: { code: "not-found" } });
  });
});

async function waitingBeside(file: string): Promise<void> {
  const desk = await program(file, "beside");
  const { runId } = await desk.supervisor.start("refund", { orderId: "B-1", cents: 5 });
  await desk.supervisor.settled(runId);
  await desk.end();
}
