/** Libraries that are measured in turns, each in a process of its own. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";

export type Workload = "linear" | "approval" | "results" | "map";

/** To be warmed up first, and to say how often it runs in a round of so long; or a round of so many runs. */
export type Ask = { readonly workload: Workload } & (
  | { readonly warmMicros: number; readonly roundMicros: number }
  | { readonly times: number }
);

/** `missing`: this library has no such workload. */
export type Answer =
  | { readonly missing: true }
  | { readonly times: number }
  | { readonly micros: number; readonly wallMs: number; readonly firstMs: number };

/** Where a library keeps its runs: files in a folder, or a server's database. */
export type Place = { readonly sqlite: string } | { readonly postgres: string };

/** Where an adapter is: a module, and the name of one of its exports where it isn't the module itself. */
export interface Where {
  readonly name: string;
  readonly module: string;
  readonly member?: string;
  /** For adapters on stores: its `on` is called with it. */
  readonly place?: Place;
}

export interface Contender {
  readonly name: string;
  ask(ask: Ask): Promise<Answer>;
  end(): void;
}

/** What a run took, round by round. */
export interface Taken {
  /** Microseconds of processor time. */
  readonly micros: number[];
  readonly wallMs: number[];
  /** On stores, of an approval: from the decision to the call that it allows. */
  readonly firstMs: number[];
}

export async function contender(where: Where): Promise<Contender> {
  const { name } = where;
  const child = fork(new URL("child.ts", import.meta.url), [JSON.stringify(where)], {
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

/** What each took that has the workload, by name: a round of each in turn, `rounds` times. */
export async function inTurns(
  contenders: readonly Contender[],
  how: {
    readonly workload: Workload;
    readonly rounds: number;
    readonly warmMicros: number;
    /** How long a round is; 0: one run. */
    readonly roundMicros: number;
  },
): Promise<Map<string, Taken>> {
  const { workload, rounds, warmMicros, roundMicros } = how;
  const ready: { readonly one: Contender; readonly times: number; readonly taken: Taken }[] = [];
  for (const one of contenders) {
    const warm = await one.ask({ workload, warmMicros, roundMicros });
    if (!("times" in warm)) continue;
    ready.push({ one, times: warm.times, taken: { micros: [], wallMs: [], firstMs: [] } });
  }
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < ready.length; turn += 1) {
      const { one, times, taken } = ready[(turn + round) % ready.length]!;
      const took = await one.ask({ workload, times });
      if (!("micros" in took)) continue;
      taken.micros.push(took.micros);
      taken.wallMs.push(took.wallMs);
      taken.firstMs.push(took.firstMs);
    }
  }
  return new Map(ready.map(({ one, taken }) => [one.name, taken]));
}
