/** Rounds of a race: everybody is told at once what there is to win, and what each was told is compared with what stands. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { bundled } from "../child-process.ts";
import type { Place } from "../supervision/order.ts";
import { storeAt } from "../supervision/store.ts";
import { paidFor, payments } from "./payment.ts";
import type { Came, Racing, Round } from "./racer.ts";

/** Who races. */
export interface Field {
  readonly processes: number;
  /** In each. */
  readonly clients: number;
}

export interface RaceHow {
  readonly folder: string;
  readonly rounds: number;
  readonly place: Place;
  readonly field: Field;
}

export interface Raced {
  readonly faults: readonly string[];
  /** How often somebody who lost was told what stands. */
  readonly told: number;
}

export async function race({ folder, rounds, place, field }: RaceHow): Promise<Raced> {
  const paid = join(folder, "paid.txt");
  const store = await storeAt(place);
  const { payment, runner, records } = payments(store, paid);
  const program = bundled(join(import.meta.dirname, "racer.ts"), folder);
  const children = Array.from({ length: field.processes }, (_, at) => {
    const names = Array.from({ length: field.clients }, (_unused, client) => `p${at}.${client}`);
    return racer(program, { place, paid, names: field.clients === 1 ? [`p${at}`] : names });
  });
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
    const answers = await Promise.all(children.map(({ answer }) => answer()));
    const came = answers.flatMap((line) => JSON.parse(line) as readonly Came[]);
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
  await store.close();
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
function racer(program: string, racing: Racing) {
  const child = spawn(process.execPath, [program, JSON.stringify(racing)], {
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
