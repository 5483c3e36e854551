/**
 * One library in a process of its own, as its users have it: what others load, patch and keep slows whatever runs beside them.
 * Started by `contenders.ts`; runs what it is asked to for so long, and answers what a run took.
 */
import { once } from "node:events";

import { spentMicros, timesIn, warmUp } from "../spent.ts";
import { workloads, type Adapter } from "./workloads.ts";

export type Workload = "linear" | "approval";

/** To be warmed up first, and to say how often it runs in a round of so long; or a round of so many runs. */
export type Ask = { readonly workload: Workload } & (
  | { readonly warmMicros: number; readonly roundMicros: number }
  | { readonly times: number }
);

export type Answer = { readonly times: number } | { readonly micros: number };

const [module, name] = process.argv.slice(2) as [string, string];
const loaded = (await import(new URL(module).href)) as Record<string, unknown>;
// A peer's adapter is its module; ours and the floor are exports of theirs.
const adapter = (name === "" ? loaded : loaded[name]) as Adapter;
const made = new Map<Workload, () => Promise<unknown>>();

function runOf(workload: Workload): () => Promise<unknown> {
  const run = made.get(workload) ?? make(workload);
  made.set(workload, run);
  return run;
}

function make(workload: Workload): () => Promise<unknown> {
  return workload === "linear"
    ? adapter.linear(workloads.B1.nodes)
    : adapter.approval(workloads.B2);
}

async function answer(ask: Ask): Promise<Answer> {
  const run = runOf(ask.workload);
  if (!("times" in ask)) {
    await warmUp(run, ask.warmMicros);
    return { times: await timesIn(run, ask.roundMicros) };
  }
  const start = spentMicros();
  for (let index = 0; index < ask.times; index += 1) await run();
  return { micros: (spentMicros() - start) / ask.times };
}

process.send!("ready");
for (;;) {
  const [ask] = (await once(process, "message")) as [Ask];
  process.send!(await answer(ask));
}
