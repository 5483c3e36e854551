import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { print, type ProofHow } from "../command.ts";
import { killOneOf, type Killed, type Killing } from "./killed.ts";

/** As a supervisor has it where nobody says otherwise. */
const [leaseMs, pollMs] = [30_000, 5_000];

<<<<<<< HEAD
/**
 * `pnpm proof takeover [--quick] [--postgres URL] [times]`: 100 runs at work in a process that is killed, finished by those that are
 * left (R070): by one on a SQLite file, and by three on a Postgres, where one is given.
 */
export async function takeoverCommand(asked: ProofHow): Promise<readonly string[]> {
  const { quick, times = 3 } = asked;
  const faults: string[] = [];
=======
/** `pnpm proof takeover [--quick] [times]`: 100 runs at work in a process that is killed, finished by those that are left (R070). */
export async function takeoverCommand({
  quick,
  times = 3,
  startServer,
}: ProofHow): Promise<readonly string[]> {
  const faults: string[] = [];
  const server = await startServer();
>>>>>>> main
  const term = quick ? { leaseMs: 4_000, pollMs: 200 } : { leaseMs, pollMs };
  const shared = { sessions: 10, runsOfSession: 10, ...term };
  const url = asked.text("postgres");
  for (let round = 1; round <= (quick ? 1 : times); round += 1) {
    const killings: [string, (folder: string) => Omit<Killing, "folder">][] = [
      [
        "sqlite, one is left",
        (folder) => {
          const place = { kind: "sqlite", file: join(folder, "desk.db") } as const;
          return { ...shared, place, others: 1 };
        },
      ],
    ];
    if (url !== undefined) {
      const place = { kind: "postgres", url, schema: `takeover_${Date.now()}` } as const;
      killings.push(["postgres, three are left", () => ({ ...shared, place, others: 3 })]);
    }
    for (const [name, how] of killings) {
      const killed = await inFolder((folder) => killOneOf({ ...how(folder), folder }));
      print(`${name}: ${lineOf(killed)}`);
      faults.push(...killed.faults, ...late(killed, term).map((fault) => `${name}: ${fault}`));
    }
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
