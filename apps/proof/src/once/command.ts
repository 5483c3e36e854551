/** `pnpm proof once [--quick] [rounds]`: processes race for one approval, and for one resume, a round after the other (P1). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { print, stopwatch, type ProofHow } from "../command.ts";
import { race, type Field } from "./race.ts";

/** On a file, processes with a client each; on a server, two processes with many. */
const onFile: Field = { processes: 8, clients: 1 };
const onServer: Field = { processes: 2, clients: 32 };

export async function onceCommand(how: ProofHow): Promise<readonly string[]> {
  const { quick, times = 2_000, startServer } = how;
  const rounds = quick ? 60 : times;
  const server = await startServer();
  try {
    return [...(await printed(rounds)), ...(await printed(rounds, server.url))];
  } finally {
    await server.stop();
  }
}

async function printed(rounds: number, url?: string): Promise<readonly string[]> {
  const took = stopwatch();
  const { processes, clients } = url === undefined ? onFile : onServer;
  const { faults, told } = await raceRounds(rounds, url);
  const field = `${processes} processes, ${clients} clients each, on a ${url === undefined ? "file" : "server"}`;
  print(`${field}: ${rounds} rounds, ${told} told what stands, ${faults.length} faults, ${took()}`);
  return faults;
}

/** Races so many rounds, half of them for an approval and half for a resume; on a server where `url` names one, else on a file. */
export async function raceRounds(rounds: number, url?: string) {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-once-"));
  try {
    if (url !== undefined) {
      const place = { kind: "postgres", url, schema: `once_${process.pid}` } as const;
      return await race({ folder, rounds, place, field: onServer });
    }
    const place = { kind: "sqlite", file: join(folder, "all.db") } as const;
    return await race({ folder, rounds, place, field: onFile });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
