// One of several processes that race: told a round, each client of it tries to decide an approval or to resume a run, and tells
// what came of it.
import { createInterface } from "node:readline";

import { isApprovalError, type ApprovalAlreadyDecided } from "@holdpoint/approvals";
import { approve, deny, replies } from "@holdpoint/flow";
import { openPostgres } from "@holdpoint/postgres";
import { openSqlite } from "@holdpoint/sqlite";
import { verified } from "@holdpoint/testing";
import { Pool } from "pg";

import type { Place } from "../supervision/order.ts";
import { payments } from "./payment.ts";

/** What a process is to do; `names`: whose clients it is. */
export interface Racing {
  readonly place: Place;
  readonly paid: string;
  readonly names: readonly string[];
}

/** One thing that all race for. */
export type Round =
  | { readonly race: "decide"; readonly approvalId: string }
  | { readonly race: "resume"; readonly approvalId: string; readonly checkpoint: string };

/** What became of one client. `stands`: by whom, as it was told; `code`: what it was refused with. */
export interface Came {
  readonly won: boolean;
  readonly stands?: string;
  readonly code?: string;
}

const { place, paid, names } = JSON.parse(process.argv[2] ?? "{}") as Racing;

/** A connection for each client of a server, and one handle of a file for all of a process. */
async function opened() {
  if (place.kind === "sqlite") return openSqlite(place.file);
  const pool = new Pool({ connectionString: place.url, max: names.length, allowExitOnIdle: true });
  return openPostgres(pool, { schema: place.schema });
}

const store = await opened();
const clients = names.map((name) => ({ name, ...payments(store, paid) }));

async function race(
  { name, payment, runner, records }: (typeof clients)[number],
  round: Round,
): Promise<Came> {
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
  const round = JSON.parse(line) as Round;
  const came = await Promise.all(clients.map((client) => race(client, round)));
  process.stdout.write(`${JSON.stringify(came)}\n`);
}
await Promise.resolve(store.close());
