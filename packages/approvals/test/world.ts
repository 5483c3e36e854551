import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";

import {
  approve,
  DeferredApproval,
  deny,
  identityPort,
  memoryApprovalStore,
  memoryHome,
  requestOf,
  type Actor,
  type ApprovalRequest,
  type ApprovalStore,
  type Clock,
  type Ids,
  type RecordOptions,
  type RequestHow,
  type RequestFacts,
} from "../src/index.ts";

export interface HandClock extends Clock {
  move(ms: number): void;
}

/** A clock that stands until it is moved. */
export function handClock(start = 1_000_000): HandClock {
  let now = start;
  return {
    now: () => now,
    monotonic: () => now,
    timer: () => () => undefined,
    move: (ms) => void (now += ms),
  };
}

/** A store that tells the time with what it reads, as one does that is far away. */
export function tellingTime(store: ApprovalStore): ApprovalStore {
  return {
    ...store,
    getNow: async (at, id) => ({ found: await store.get(at, id), now: await store.now() }),
    async findNow(at, requestKeys) {
      const found = await Promise.all(requestKeys.map((key) => store.find(at, key)));
      return { found, now: await store.now() };
    },
  };
}

/** Ids that count. */
export function countingIds(prefix = "id"): Ids {
  let count = 0;
  const next = () => `${prefix}-${(count += 1)}`;
  return { id: next, uuid: next, random: () => 0.5 };
}

export const scope = "acme";
// Node's own MAC: the same bytes as the default, and tests seal a great deal.
export const keyring = createKeyring({
  current: { id: "k1", key: new Uint8Array(32).fill(7) },
  mac: nodeMac,
});

const people = identityPort((credential) => {
  if (typeof credential !== "string" || credential === "nobody") return undefined;
  const [id = "", ...roles] = credential.split(" ");
  return roles.length === 0 ? { id } : { id, roles };
});

/** A verified person: `dana finance` is Dana with the role finance. */
export function person(credential: string): Promise<Actor> {
  return people.authenticate(credential);
}

export const yes = async (who: string) => approve({ by: await person(who) });
export const no = async (who: string) => deny({ by: await person(who) });

export const refund = { orderId: "A-17", cents: 4_200 };

export function requestFor(
  facts: Partial<RequestFacts> = {},
  asked: { id?: string; requestedAt?: number } = {},
): ApprovalRequest {
  return requestOf(
    {
      kind: "tool",
      tool: "issue_refund",
      scope,
      runId: "run-1",
      node: "pay#1",
      callId: "run-1/pay#1/issue_refund/1",
      argumentKey: "key-of-arguments",
      arguments: refund,
      requestedBy: { id: "rita", assurance: "verified" },
      rule: {},
      ...facts,
    },
    { id: "apr-1", requestedAt: 1_000_000, ...asked },
  );
}

export const how = (): RequestHow => ({
  signal: new AbortController().signal,
  prepare: () => undefined,
});

export interface World {
  readonly clock: HandClock;
  readonly store: ApprovalStore;
  readonly port: DeferredApproval;
  readonly records: DeferredApproval["records"];
}

/** A deferred port over a memory store, on a clock that a test moves. */
export function world(options: RecordOptions & { store?: ApprovalStore } = {}): World {
  const clock = handClock();
  const { store = memoryApprovalStore(memoryHome({ clock })), ...more } = options;
  const port = new DeferredApproval(store, { keyring, ids: countingIds(), ...more });
  return { clock, store, port, records: port.records };
}

/** Files a request and answers its id. */
export async function file(
  { port }: Pick<World, "port">,
  facts: Partial<RequestFacts> = {},
  id = "apr-1",
): Promise<string> {
  const answer = await port.request(requestFor(facts, { id }), how());
  if (answer.status !== "pending" || answer.approvalId === undefined)
    throw new Error(answer.status);
  return answer.approvalId;
}

/** Settles and commits, as a runner does. */
export async function spend(
  { records, store }: Pick<World, "records" | "store">,
  id: string,
  attemptId: string,
  more: Partial<Parameters<World["records"]["settle"]>[0]> = {},
) {
  const plan = await records.settle({
    scope,
    id,
    attemptId,
    argumentsDigest: requestFor().argumentsDigest,
    ...more,
  });
  if (plan.status !== "ready" && plan.status !== "open") return plan;
  const committed = await store.commit(attemptId, plan.writes);
  return committed.status === "done" ? plan : { status: committed.status };
}
