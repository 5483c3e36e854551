import { statements, systemClock, type Clock, type Write } from "@holdpoint/approvals";
import { approve, flow, unverified } from "@holdpoint/flow";
import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";
import { defineTool } from "@holdpoint/tools";
import {
  defineWorkflow,
  leaseOf,
  releaseWrite,
  runWrite,
  Supervisor,
  type SupervisorStore,
} from "@holdpoint/workflows";
import { z } from "zod";

const keyring = createKeyring({
  current: { id: "k", key: new Uint8Array(32).fill(7) },
  mac: nodeMac,
});
const by = unverified("dana");
const State = z.object({ orderId: z.string(), paid: z.boolean().optional() });

const refund = defineWorkflow({
  name: "refund",
  version: "1",
  input: z.object({ orderId: z.string() }),
  flow: flow("refund", State)
    .gate("review", { payload: ({ orderId }) => ({ orderId }) })
    .node("pay", () => ({ paid: true }))
    .path("review", "pay")
    .build(),
});

/** Who waits for a run's events. */
interface Heard {
  readonly resumed: () => void;
  readonly ended: () => void;
}

/** A desk with runs that wait, and who is told that one goes on. */
export async function desk(store: SupervisorStore) {
  const told = new Map<string, Heard>();
  const supervisor = new Supervisor({
    store,
    definitions: [refund],
    session: "desk",
    keyring,
    workers: 16,
    leaseMs: 3_600_000, // rows are put beside by the ten thousand, and nothing else runs meanwhile
    onEvent: ({ runId, type }) => {
      if (type === "answered") told.get(runId)?.resumed();
      if (type === "completed") told.get(runId)?.ended();
    },
  });
  await supervisor.activate();
  const started: string[] = [];
  return {
    async start(
      count: number,
    ): Promise<readonly { readonly runId: string; readonly id: string }[]> {
      for (let at = 0; at < count; at += 1) {
        started.push((await supervisor.start("refund", { orderId: `A-${at}` })).runId);
      }
      await supervisor.waitIdle();
      return Promise.all(
        started.splice(0).map(async (runId) => {
          const [wait] = (await supervisor.get(runId))!.waitsFor;
          return { runId, id: wait!.id };
        }),
      );
    },
    async page(limit: number): Promise<number> {
      const filter = { status: "interrupted" } as const;
      return (await supervisor.list({ filter, order: "oldest", limit })).items.length;
    },
    async decide(runId: string, id: string, onResumed: () => void): Promise<void> {
      const ending = new Promise<void>((ended) => told.set(runId, { resumed: onResumed, ended }));
      await supervisor.decide(id, approve({ by }));
      await ending;
      told.delete(runId);
    },
    end: () => supervisor.shutdown(),
  };
}

/** Rows of runs that wait beside those of a desk, behind them in each order, and that nobody opens. */
export function beside(from: number, count: number): readonly Write[] {
  const sealed = "opened by nobody".padEnd(1_000, "x");
  return Array.from({ length: count }, (_, more) => from + more).flatMap((at) => [
    runWrite("default", `run-beside-${at}`, 0, {
      definition: "refund",
      version: "1",
      status: "interrupted",
      session: "desk",
      startKey: null,
      createdAt: 2e15 + at,
      updatedAt: 2e15 + at,
      dueAt: null,
      sealed,
    }),
    {
      statement: statements.putRecord,
      scope: "default",
      key: `approval-beside-${at}`,
      expect: 0,
      values: {
        state: "pending",
        tool: "node:refund.review",
        runId: `run-beside-${at}`,
        requestKey: `key-${at}`,
        requestedAt: 2e15 + at,
        expiresAt: null,
        sealed,
      },
    },
  ]);
}

/** A process whose clock gives it no turn: it renews nothing, and what it began never ends. */
const dead: Clock = { ...systemClock, timer: () => () => undefined };

/** Runs of four calls; with `holdAt`, one of them never answers. */
function journeys(holdAt?: number) {
  let held = 0;
  const step = defineTool({
    name: "step",
    description: "Does one thing.",
    input: z.object({ at: z.int() }),
    output: z.object({ at: z.int() }),
    idempotent: true,
    execute: async ({ at }) => {
      if (at === holdAt) {
        held += 1;
        await new Promise(() => undefined);
      }
      return { at };
    },
  });
  const definition = defineWorkflow({
    name: "journey",
    version: "1",
    input: z.object({}),
    flow: flow("journey", z.object({ at: z.int().optional() }))
      .node("go", async (_, ctx) => {
        let last = 0;
        for (let at = 1; at <= 4; at += 1) last = (await ctx.call(step, { at })).at;
        return { at: last };
      })
      .build(),
  });
  return { definition, held: () => held };
}

/** Leaves so many runs behind, each in its third call. */
export async function leaveRunning(store: SupervisorStore, session: string, runs: number) {
  const { definition, held } = journeys(3);
  const how = { store, keyring, session, workers: 100, leaseMs: 3_600_000, clock: dead };
  const owner = new Supervisor({ ...how, definitions: [definition] });
  await owner.activate();
  for (let at = 0; at < runs; at += 1) await owner.start("journey", {});
  while (held() < runs) await new Promise((resolve) => void setImmediate(resolve));
  // As if the lease had lapsed: what is measured is what comes then.
  const stands = leaseOf("default", session, await store.leases.get("default", session));
  await store.leases.commit(`lapse-${session}`, [releaseWrite(stands)]);
}

/** Takes the session up, and finishes its runs. */
export async function recover(
  store: SupervisorStore,
  session: string,
  runs: number,
): Promise<void> {
  const { definition } = journeys();
  const how = { store, keyring, session, workers: 100 };
  const next = new Supervisor({ ...how, definitions: [definition] });
  const { adoptions } = await next.activate();
  await next.waitIdle();
  const { items } = await next.list({ filter: { status: "completed", session }, limit: 500 });
  if (adoptions.length !== runs || items.length !== runs) throw new Error("not all were finished");
  await next.shutdown();
}
