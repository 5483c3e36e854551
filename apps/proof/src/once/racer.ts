// One of several processes that race: told a round, it tries to decide an approval or to resume a run, and tells what came of it.
import { createInterface } from "node:readline";

import { isApprovalError, type ApprovalAlreadyDecided } from "@holdpoint/approvals";
import { approve, deny, replies } from "@holdpoint/flow";
import { verified } from "@holdpoint/testing";

import { payments } from "./payment.ts";

/** One thing that all race for. */
export type Round =
  | { readonly race: "decide"; readonly approvalId: string }
  | { readonly race: "resume"; readonly approvalId: string; readonly checkpoint: string };

/** What became of one racer. `stands`: by whom, as it was told; `code`: what it was refused with. */
export interface Came {
  readonly won: boolean;
  readonly stands?: string;
  readonly code?: string;
}

const [file = "", paid = "", name = ""] = process.argv.slice(2);
const { payment, runner, records, store } = payments(file, paid);

async function race(round: Round): Promise<Came> {
  const by = await verified(name);
  const { approvalId } = round;
  try {
    if (round.race === "decide") {
      const decision = name.endsWith("3") ? deny({ by }) : approve({ by });
      const { status } = await records.decide({ scope: "default", id: approvalId, decision });
      return { won: status === "decided" };
    }
    const checkpoint = runner.loadCheckpoint(payment, round.checkpoint);
    await runner.resume(payment, checkpoint, replies({ [approvalId]: approve({ by }) }));
    return { won: true };
  } catch (error) {
    const code = String(Reflect.get(error as Error, "code"));
    if (!isApprovalError(error, "approval-already-decided")) return { won: false, code };
    const { decision } = error as ApprovalAlreadyDecided;
    return { won: false, code, stands: decision?.by.id ?? "nobody" };
  }
}

process.stdout.write("ready\n");
for await (const line of createInterface(process.stdin)) {
  process.stdout.write(`${JSON.stringify(await race(JSON.parse(line) as Round))}\n`);
}
store.close();
