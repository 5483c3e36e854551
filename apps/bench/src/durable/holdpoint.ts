import { approve, DeferredApproval } from "@holdpoint/approvals";
import { flow, FlowRunner, replies, type Flow, type FlowInput } from "@holdpoint/flow";
import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";
import { z } from "zod";

import { approvalFlow, dana, linearFlow, resultsFlow } from "../flow/holdpoint.ts";
import { workloads, type ApprovalWork } from "../flow/workloads.ts";
import type { Bed } from "./stores.ts";

/** Each with a keyring of its own, as in a process of its own: what one has verified the other has to. */
function runnerOn({ store }: Bed): FlowRunner {
  const keyring = createKeyring({
    current: { id: "k", key: new Uint8Array(32).fill(7) },
    mac: nodeMac,
  });
  const approvals = new DeferredApproval(store.approvals, { keyring });
  return new FlowRunner({ approvals, log: store.log, keyring });
}

export function linear(bed: Bed): () => Promise<unknown> {
  const built = linearFlow(workloads.B1.nodes);
  const runner = runnerOn(bed);
  return async () => {
    const done = await runner.run(built, { n: 0 });
    if (done.status !== "completed") throw new Error(done.status);
    return done.state.n;
  };
}

/** Runs to the question, and goes on from the log by the run's id, as another process would. */
function answered<S extends object, In>(
  bed: Bed,
  built: Flow<S, In>,
  input: In,
  decided?: () => void,
): () => Promise<unknown> {
  const [asking, answering] = [runnerOn(bed), runnerOn(bed)];
  return async () => {
    const first = await asking.run(built, input as FlowInput<Flow<S, In>>);
    if (first.status !== "paused") throw new Error(first.status);
    decided?.();
    const reply = replies({ [first.pending.id]: approve({ by: dana }) });
    const done = await answering.resume(built, first.runId, reply);
    if (done.status !== "completed") throw new Error(done.status);
    return done.runId;
  };
}

export function approval(bed: Bed, work: ApprovalWork = workloads.B2): () => Promise<unknown> {
  return answered(bed, approvalFlow(work), work.state, work.decided);
}

export function results(bed: Bed): () => Promise<unknown> {
  return answered(bed, resultsFlow(workloads.B5), { n: 0 });
}

/** An agent's loop: each turn is a node's visit, and its state holds everything that was said so far. */
export function turns(bed: Bed): () => Promise<unknown> {
  const { results: count, fetch } = workloads.B5;
  const Said = z.object({ rows: z.array(z.object({ id: z.int(), text: z.string() })) });
  const built = flow("turns", z.object({ n: z.int(), said: z.array(Said) }))
    .node("turn", async ({ n, said }) => ({
      n: n + 1,
      said: [...said, { rows: [...(await fetch(n)).rows] }],
    }))
    .route("turn", ["turn", "$end"], ({ n }) => (n < count ? "turn" : "$end"))
    .build();
  const runner = runnerOn(bed);
  return async () => {
    const done = await runner.run(built, { n: 0, said: [] });
    if (done.status !== "completed" || done.state.said.length !== count) {
      throw new Error(done.status);
    }
    return done.runId;
  };
}
