import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { print, type ProofHow } from "../command.ts";
import { killOneOf, type Killed, type Killing } from "./killed.ts";

/** As a supervisor has it where nobody says otherwise. */
const [leaseMs, pollMs] = [30_000, 5_000];

/** `pnpm proof takeover [--quick] [times]`: 100 runs at work in a process that is killed, finished by those that are left (R070). */
export async function takeoverCommand({
  quick,
  times = 3,
  startServer,
}: ProofHow): Promise<readonly string[]> {
  const faults: string[] = [];
  const server = await startServer();
  const term = quick ? { leaseMs: 4_000, pollMs: 200 } : { leaseMs, pollMs };
  try {
    for (let round = 1; round <= (quick ? 1 : times); round += 1) {
      const place = { kind: "postgres", url: server.url, schema: `takeover_${round}` } as const;
      const shared = { sessions: 10, runsOfSession: 10, ...term };
      const figures = [
        [
          "postgres, three are left",
          await inFolder((folder) => killOneOf({ ...shared, place, folder, others: 3 })),
        ],
        [
          "sqlite, one is left",
          await inFolder((folder) =>
            killOneOf({
              ...shared,
              place: { kind: "sqlite", file: join(folder, "desk.db") },
              folder,
              others: 1,
            }),
          ),
        ],
      ] as const;
      for (const [name, killed] of figures) {
        print(`${name}: ${lineOf(killed)}`);
        faults.push(...killed.faults, ...late(killed, term).map((fault) => `${name}: ${fault}`));
      }
    }
  } finally {
    await server.stop();
  }
  return faults;
}

function lineOf({ runs, owners, takenMs, doneMs, madeAgain, faults }: Killed): string {
  return `${runs} runs, ${owners} owners, taken over after ${takenMs} ms, done after ${doneMs} ms, ${madeAgain} calls made again, ${faults.length} faults`;
}

/** R070: within the lease and five seconds. */
function late({ takenMs }: Killed, term: Pick<Killing, "leaseMs">): readonly string[] {
  const boundMs = term.leaseMs + 5_000;
  return takenMs <= boundMs ? [] : [`taken over after ${takenMs} ms, and not within ${boundMs}`];
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-takeover-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
