import { keyringOf } from "@holdpoint/seal";

import { identityPort, type Actor } from "../actor.ts";
import { approve, deny } from "../decision.ts";
import { isApprovalError } from "../errors.ts";
import { DeferredApproval } from "../ports/deferred.ts";
import { requestOf, type ApprovalRequest } from "../request.ts";
import type { ApprovalRule } from "../rule.ts";
import type { ApprovalStore } from "../store.ts";
import {
  holds,
  same,
  storeCase,
  tenant,
  type StoreCase,
  type StoreUnderTest,
} from "./store-case.ts";

/** Whole records over a store: what the layer above makes of it. */
export const recordCases: readonly StoreCase[] = [
  storeCase(
    "APR-17 files one record for 117 askings of one call, and counts them",
    async (under) => {
      const ports = await twoPorts(under);
      const answers = await Promise.all(
        Array.from({ length: 117 }, (_, at) => ports[at % 2]!.request(request(`r-${at}`), how())),
      );
      const ids = new Set(answers.map((answer) => String(answer.approvalId)));
      same(ids.size, 1, "the records that were answered");
      const id = [...ids].join();
      same((await ports[0].records.list(tenant)).items.length, 1, "the records on file");
      same(await ports[0].records.asked(tenant, id), 117, "the askings counted");
    },
  ),

  storeCase(
    "APR-20 lets one of 64 racing settles spend a decision, and tells the others",
    async (under) => {
      const ports = await twoPorts(under);
      const asked = request("r");
      await ports[0].request(asked, how());
      const by = await person("dana");
      const spent = await Promise.all(
        Array.from({ length: 64 }, (_, at) =>
          spend(
            ports[at % 2]!,
            asked,
            `attempt-${at}`,
            at % 2 === 0 ? approve({ by }) : deny({ by }),
          ),
        ),
      );
      const winners = spent.filter((result) => result.status === "spent");
      same(winners.length, 1, "the attempts that spent it");
      const state = await ports[0].records.read(tenant, "r");
      holds(state?.state === "consumed", "the record is consumed");
      for (const result of spent)
        same(result.approved, state.decision.approved, "what each was told");
      same(winners[0]?.attemptId, state.attemptId, "the attempt on record");
    },
  ),

  storeCase(
    "R030 lets one of an approval and a denial at once stand, and tells the other which",
    async (under) => {
      const [one, other] = await twoPorts(under);
      await one.request(request("r"), how());
      const [dana, erik] = [await person("dana"), await person("erik")];
      const results = await Promise.allSettled([
        one.records.decide({ scope: tenant, id: "r", decision: approve({ by: dana }) }),
        other.records.decide({ scope: tenant, id: "r", decision: deny({ by: erik }) }),
      ]);
      same(
        results.filter(({ status }) => status === "fulfilled").length,
        1,
        "the decisions that stand",
      );
      for (const result of results) {
        if (result.status === "fulfilled") continue;
        holds(isApprovalError(result.reason, "approval-already-decided"), "the other is told");
      }
      same((await one.records.verifyAudit(tenant, "r")).status, "whole", "the audit trail");
    },
  ),

  storeCase("R039 tips a quorum of three by exactly the third distinct person", async (under) => {
    const ports = await twoPorts(under);
    await ports[0].request(request("r", { quorum: 3, excludeRequester: true }), how());
    const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "a", "rita"];
    const results = await Promise.allSettled(
      names.map(async (name, at) =>
        ports[at % 2]!.records.decide({
          scope: tenant,
          id: "r",
          decision: approve({ by: await person(name) }),
        }),
      ),
    );
    const view = await ports[0].records.show(tenant, "r");
    same(view?.state, "decided", "the record");
    same(new Set(view?.votes.map((vote) => vote.by.id)).size, 3, "the people who made it so");
    holds(view?.votes.every((vote) => vote.by.id !== "rita") === true, "the requester is not one");
    const tipping = results.filter((r) => r.status === "fulfilled" && r.value.status === "decided");
    same(tipping.length, 1, "the votes that tipped it");
    same((await ports[0].records.verifyAudit(tenant, "r")).status, "whole", "the audit trail");
  }),

  storeCase("APR-13 decides by the store's clock until the instant of expiry", async (under) => {
    const [port] = await twoPorts(under);
    await port.request(request("in-time", { expiresInMs: 60_000 }), how());
    const late = request("late", { expiresInMs: 60_000 }, "another-call");
    await port.request(late, how());
    const decision = approve({ by: await person("dana") });
    await port.records.decide({ scope: tenant, id: "in-time", decision });
    await under.advance(60_000);
    const refused = port.records.decide({ scope: tenant, id: "late", decision });
    holds(
      isApprovalError(await failure(refused), "approval-expired"),
      "a decision then is refused",
    );
    const answer = await port.request(late, how());
    holds(answer.status === "decided", "the call is answered");
    same([answer.decision.approved, answer.decision.reason], [false, "expired"], "the answer");
    same(await port.records.sweep(tenant), ["late"], "what a sweep ends");
    same((await port.records.read(tenant, "in-time"))?.state, "decided", "one decided before it");
  }),

  storeCase("APR-27 gives a watcher every event of a record, in order", async (under) => {
    const [port, other] = await twoPorts(under);
    const stop = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const event of other.records.watch(tenant, { signal: stop.signal })) {
        seen.push(event.type);
        if (event.type === "approval.consumed") stop.abort();
      }
    })();
    const asked = request("r");
    await port.request(asked, how());
    const decision = approve({ by: await person("dana") });
    await port.records.decide({ scope: tenant, id: "r", decision });
    await spend(port, asked, "attempt-1");
    await watching;
    same(seen, ["approval.requested", "approval.decided", "approval.consumed"], "the events");
  }),

  storeCase("APR-28 needs a key that outlives the process where the rows do", async ({ store }) => {
    const made = await failure(Promise.resolve().then(() => new DeferredApproval(store)));
    holds(store.durable === isApprovalError(made, "key-required"), "no key is refused if durable");
  }),
];

const keyring = keyringOf(new Uint8Array(32).fill(1));

async function twoPorts(
  under: StoreUnderTest,
): Promise<readonly [DeferredApproval, DeferredApproval]> {
  const over = (store: ApprovalStore) => new DeferredApproval(store, { keyring });
  return [over(under.store), over(await under.another())];
}

const people = identityPort((name) => ({ id: String(name) }));
const person = (name: string): Promise<Actor> => people.authenticate(name);
const how = () => ({ signal: new AbortController().signal, prepare: () => undefined });

function request(id: string, rule: ApprovalRule = {}, callId = "call"): ApprovalRequest {
  return requestOf(
    {
      kind: "tool",
      tool: "issue_refund",
      scope: tenant,
      runId: "run-1",
      node: "pay#1",
      callId,
      argumentKey: "arguments",
      arguments: { cents: 4_200 },
      requestedBy: { id: "rita", assurance: "verified" },
      rule,
    },
    { id, requestedAt: 0 },
  );
}

/** Settles as a runner does: plans, commits, and asks again what stands where it was refused. */
async function spend(
  { records }: DeferredApproval,
  { id, argumentsDigest }: ApprovalRequest,
  attemptId: string,
  decision?: ReturnType<typeof approve> | ReturnType<typeof deny>,
): Promise<{ readonly status: string; readonly approved: boolean; readonly attemptId: string }> {
  const brought = decision === undefined ? {} : { decision };
  for (;;) {
    const plan = await records.settle({
      scope: tenant,
      id,
      attemptId,
      argumentsDigest,
      ...brought,
    });
    holds(plan.status === "ready" || plan.status === "stands", `a settle is ${plan.status}`);
    const { approved } = plan.decision;
    if (plan.status === "stands") return { status: "stands", approved, attemptId };
    const committed = await records.store.commit(attemptId, plan.writes);
    if (committed.status === "done") return { status: "spent", approved, attemptId };
  }
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return undefined;
}
