import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { approve, DeferredApproval, unverified } from "@holdpoint/approvals";
import { FlowRunner, replies } from "@holdpoint/flow";
import { expect, it } from "vitest";

import { behind, opened, place, url } from "./place.ts";
import { keyring, refundDesk } from "./refund-desk.ts";

/** Has another process resume the run and be killed; answers whether it was, or had no such commit any more. */
async function isKilledAt(args: readonly string[]): Promise<boolean> {
  const program = join(import.meta.dirname, "resumer.ts");
  const child = spawn(process.execPath, ["--conditions=@holdpoint/source", program, url, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let told = "";
  child.stdout.on("data", (chunk: Buffer) => void (told += chunk.toString()));
  await once(child, "close");
  if (child.signalCode === "SIGKILL") return true;
  if (told !== "completed\n") throw new Error(`the process ended otherwise: ${told}`);
  return false;
}

it("STORE-05 STORE-07 a run is finished by the next process, paid once, when its own was killed at its n-th commit, before or after the server had it", async () => {
  for (let number = 1, isKilled = true; isKilled; number += 1) {
    const when = number % 2 === 1 ? "before" : "after";
    const schema = place();
    await behind.query(`CREATE TABLE ${schema}_paid (key text)`);
    const store = await opened(schema);
    const approvals = new DeferredApproval(store.approvals, { keyring });
    const runner = new FlowRunner({ approvals, log: store.log, keyring });
    const { refund } = refundDesk(behind, schema);
    const paused = await runner.run(refund, { orderId: "A-17" }, { runId: "run-1" });
    if (paused.status !== "paused") throw new Error(paused.status);
    const { id } = paused.pending;
    isKilled = await isKilledAt([schema, id, `${number}`, when]);
    const adopted = await runner.adopt(refund, "run-1");
    // Killed before it was spent: the approval still waits, for the same answer.
    const done =
      adopted.status === "paused"
        ? await runner.resume(
            refund,
            "run-1",
            replies({ [id]: approve({ by: unverified("dana") }) }),
          )
        : adopted;
    expect(done).toMatchObject({ status: "completed", state: { refundId: "r-A-17" } });
    const record = await store.approvals.get("default", id);
    expect(record?.values["state"]).toBe("consumed");
    const { rows } = await behind.query(`SELECT DISTINCT key FROM ${schema}_paid`);
    expect(rows).toHaveLength(1);
    await behind.query(`DROP TABLE ${schema}_paid`);
    expect(number).toBeLessThan(20);
  }
});
