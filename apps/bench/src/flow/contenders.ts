/** Libraries that are measured in turns, each in a process of its own. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";

import type { Answer, Ask, Workload } from "./contender.ts";

/** Where an adapter is: a module, and the name of one of its exports where it isn't the module itself. */
export interface Where {
  readonly name: string;
  readonly module: string;
  readonly member?: string;
}

export interface Contender {
  readonly name: string;
  ask(ask: Ask): Promise<Answer>;
  end(): void;
}

export async function contender({ name, module, member = "" }: Where): Promise<Contender> {
  const child = fork(new URL("contender.ts", import.meta.url), [module, member], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await answered(child, name);
  return {
    name,
    ask(ask) {
      child.send(ask);
      return answered(child, name) as Promise<Answer>;
    },
    end: () => void child.kill(),
  };
}

async function answered(child: ChildProcess, name: string): Promise<unknown> {
  const gone = new AbortController();
  const ended = once(child, "exit", { signal: gone.signal }).then(() => {
    throw new Error(`the process of ${name} ended`);
  });
  ended.catch(() => undefined);
  try {
    const [answer] = (await Promise.race([once(child, "message"), ended])) as [unknown];
    return answer;
  } finally {
    gone.abort();
  }
}

/** Microseconds a run, by name: a round of each in turn, `rounds` times. */
export async function inTurns(
  contenders: readonly Contender[],
  how: {
    readonly workload: Workload;
    readonly rounds: number;
    readonly warmMicros: number;
    readonly roundMicros: number;
  },
): Promise<Map<string, number[]>> {
  const { workload, rounds, warmMicros, roundMicros } = how;
  const times = new Map<Contender, number>();
  for (const one of contenders) {
    const warm = await one.ask({ workload, warmMicros, roundMicros });
    times.set(one, "times" in warm ? warm.times : 1);
  }
  const taken = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const one = contenders[(turn + round) % contenders.length]!;
      const took = await one.ask({ workload, times: times.get(one)! });
      if ("micros" in took) taken.get(one.name)!.push(took.micros);
    }
  }
  return taken;
}
