/** `pnpm proof once`: processes on one file race for one approval, and for one resume, a round after the other (P1). */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { bundled } from "../child-process.ts";
import { print, stopwatch, type ProofHow } from "../command.ts";
import { paidFor, payments } from "./payment.ts";
import type { Came, Round } from "./racer.ts";

const racers = 8;

export async function onceCommand({ quick, times = 2_000 }: ProofHow): Promise<readonly string[]> {
  const took = stopwatch();
  const rounds = quick ? 60 : times;
  const { faults, told } = await raceRounds(rounds);
  print(
    `${racers} processes, ${rounds} rounds, ${told} told what stands, ${faults.length} faults, ${took()}`,
  );
  return faults;
}

/** Races so many rounds, half of them for an approval and half for a resume. */
export async function raceRounds(rounds: number) {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-once-"));
  try {
    return await race(folder, rounds);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function race(folder: string, rounds: number) {
  const [file, paid] = [join(folder, "all.db"), join(folder, "paid.txt")];
  const { payment, runner, records, store } = payments(file, paid);
  const program = bundled(join(import.meta.dirname, "racer.ts"), folder);
  const children = Array.from({ length: racers }, (_, at) =>
    racer(program, [file, paid, `p${at}`]),
  );
  await Promise.all(children.map(({ answer }) => answer()));
  const faults: string[] = [];
  let told = 0;
  for (let number = 1; number <= rounds; number += 1) {
    const order = `order-${number}`;
    const held = await runner.run(payment, { order }, { runId: `run-${number}` });
    if (held.status !== "paused") throw new Error(held.status);
    const approvalId = held.pending.id;
    const kind = number % 2 === 0 ? "decide" : "resume";
    const round: Round =
      kind === "decide"
        ? { race: kind, approvalId }
        : { race: kind, approvalId, checkpoint: runner.dumpCheckpoint(held.checkpoint) };
    for (const { tell } of children) tell(round);
    const came = await Promise.all(
      children.map(async ({ answer }) => JSON.parse(await answer()) as Came),
    );
    const stands = await records.read("default", approvalId);
    const by =
      stands !== undefined && stands.state !== "pending" ? stands.decision.by.id : "nobody";
    told += came.filter((one) => one.stands === by).length;
    faults.push(...faultsOf(came, by).map((fault) => `round ${number}, ${kind}: ${fault}`));
    const paidTimes = paidFor(paid).filter((line) => line === order).length;
    if (paidTimes !== (kind === "resume" ? 1 : 0))
      faults.push(`round ${number}: paid ${paidTimes} times`);
  }
  await Promise.all(children.map(({ end }) => end()));
  store.close();
  return { faults, told };
}

function faultsOf(came: readonly Came[], by: string): readonly string[] {
  const winners = came.filter(({ won }) => won).length;
  const losers = came.filter(({ won }) => !won);
  return [
    ...(winners === 1 ? [] : [`${winners} winners`]),
    ...losers.flatMap(({ code, stands }) =>
      code === "approval-already-decided" && stands === by
        ? []
        : [`a loser was told ${code} ${stands}`],
    ),
  ];
}

/** A process that is told a line and answers one. */
function racer(program: string, words: readonly string[]) {
  const child = spawn(process.execPath, [program, ...words], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    answer: async () => String((await lines.next()).value),
    tell: (round: Round) => void child.stdin.write(`${JSON.stringify(round)}\n`),
    end: async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}
