/**
 * One library in a process of its own, as its users have it: what others load, patch and keep slows whatever runs beside them.
 * Started by `in-turns.ts`; runs what it is asked to for so long, and answers what a run took.
 */
import { once } from "node:events";

import { workloads, type ApprovalWork } from "../flow/workloads.ts";
import { spentMicros, timesIn, warmUp } from "../spent.ts";
import type { Answer, Ask, Place, Where, Workload } from "./in-turns.ts";

/** What an adapter makes, on stores and in memory. */
type Adapter = Partial<Record<Workload, (work: unknown) => () => Promise<unknown>>>;
type OnStores = { on(how: Place & { readonly work: typeof work }): Promise<Adapter> };

let decidedAt = 0;
let firstMs = 0;
const { execute, state } = workloads.B2;
const approval: ApprovalWork = {
  state,
  decided: () => void (decidedAt = performance.now()),
  execute(call) {
    firstMs += performance.now() - decidedAt;
    return execute(call);
  },
};
const work = { nodes: workloads.B1.nodes, approval, results: workloads.B5 };
const inputs: Readonly<Record<Workload, unknown>> = {
  linear: work.nodes,
  approval: work.approval,
  results: work.results,
  map: workloads.B6,
};

const { module, member, place } = JSON.parse(process.argv[2]!) as Where;
const loaded = (await import(new URL(module).href)) as Record<string, unknown>;
// A peer's adapter is its module; ours and the floor are exports of theirs.
const found = member === undefined ? loaded : loaded[member];
const adapter =
  place === undefined ? (found as Adapter) : await (found as OnStores).on({ ...place, work });
const made = new Map<Workload, () => Promise<unknown>>();

async function answer(ask: Ask): Promise<Answer> {
  const { workload } = ask;
  const run = made.get(workload) ?? adapter[workload]?.(inputs[workload]);
  if (run === undefined) return { missing: true };
  made.set(workload, run);
  if (!("times" in ask)) {
    await warmUp(run, ask.warmMicros);
    return { times: await timesIn(run, ask.roundMicros) };
  }
  firstMs = 0;
  const [start, begun] = [spentMicros(), performance.now()];
  for (let index = 0; index < ask.times; index += 1) await run();
  const wallMs = (performance.now() - begun) / ask.times;
  return { micros: (spentMicros() - start) / ask.times, wallMs, firstMs: firstMs / ask.times };
}

process.send!("ready");
for (;;) {
  const [ask] = (await once(process, "message")) as [Ask];
  process.send!(await answer(ask));
}
