import { print, stopwatch, type ProofHow } from "../command.ts";
import type { Layout } from "./places.ts";
import { sampledOnServers } from "./points.ts";
import { killEverywhere, type KillHow } from "./run.ts";

const onFiles: readonly Layout[] = ["sqlite", "sqlite-apart"];
const onServers: readonly Layout[] = ["postgres", "mixed"];

/**
 * `pnpm proof kill [times]`: a process is killed at every write point, before, inside and after it, so many times each (P2), on
 * files and on a server; in the quick form once each.
 */
export async function killCommand({
  quick,
  times = 20,
  startServer,
}: ProofHow): Promise<readonly string[]> {
  const postgres = await startServer();
  try {
    const { url } = postgres;
    const once = { times: 1, inAll: true };
    const often = { times, inAll: false };
    const server = { layouts: onServers, url, ...(quick && { only: sampledOnServers }) };
    return [
      ...(await killed({ layouts: onFiles, ...(quick ? once : often) })),
      ...(await killed({ ...server, ...(quick ? once : often) })),
    ];
  } finally {
    await postgres.stop();
  }
}

async function killed(how: Omit<KillHow, "chains">): Promise<readonly string[]> {
  const took = stopwatch();
  const tally = await killEverywhere({ ...how, chains: 2 });
  print(how.layouts.join(", "));
  for (const [point, kills] of tally.table()) print(`${point}: ${kills}`);
  print(
    `${tally.kills} kills, ${tally.inDoubt} left in doubt, ${tally.faults.length} faults, ${took()}`,
  );
  return tally.faults;
}
