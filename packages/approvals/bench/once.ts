// The long form of P1 in process: `pnpm --filter @holdpoint/approvals once [rounds] [callers]`. Prints one line of JSON.
import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";

import { DeferredApproval, memoryApprovalStore, systemClock } from "@holdpoint/approvals";

import { raceRound, type RoundKind } from "./once-round.ts";

const [rounds = 10_000, callers = 64] = process.argv.slice(2).map(Number);
const kinds: readonly RoundKind[] = ["decide", "settle", "both"];
const current = { id: "k1", key: new Uint8Array(32).fill(5) };
const total = { rounds, callers, singleWinners: 0, doubleSpends: 0, told: 0, wrong: 0, seconds: 0 };
const start = systemClock.monotonic();

let port: DeferredApproval | undefined;
for (let round = 0; round < rounds; round += 1) {
  // A new store now and then: rows of finished rounds would only fill the memory.
  if (round % 500 === 0) {
    const keyring = createKeyring({ current, mac: nodeMac });
    port = new DeferredApproval(memoryApprovalStore(), { keyring });
  }
  const kind = kinds[round % kinds.length]!;
  const result = await raceRound(port!, round, kind, callers);
  // Where both race, somebody may decide and somebody else spend that very decision: one of each at most.
  const winners = kind === "decide" ? result.deciders : result.spenders;
  const single = winners === 1 && result.deciders <= 1;
  total.singleWinners +=
    single || (kind === "both" && winners === 0 && result.deciders === 1) ? 1 : 0;
  total.doubleSpends += result.spenders > 1 ? 1 : 0;
  total.told += result.told;
  total.wrong += result.wrong;
}
total.seconds = Math.round((systemClock.monotonic() - start) / 1_000);
process.stdout.write(`${JSON.stringify(total)}\n`);
process.exitCode = total.singleWinners === rounds && total.wrong === 0 ? 0 : 1;
