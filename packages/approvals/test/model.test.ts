// Random lives of a few records, with lost answers and a moving clock: whatever happens in whatever order, what was decided
// stands, what was spent is spent by one attempt, and the trail tells it all.
import fc from "fast-check";
import { expect, it } from "vitest";

import {
  approve,
  deny,
  editedArguments,
  isApprovalError,
  memoryApprovalStore,
  memoryHome,
  type ApprovalStore,
  type EditPort,
  type RecordState,
} from "../src/index.ts";
import { handClock, how, person, requestFor, scope, world } from "./world.ts";

const rules = [
  {},
  { quorum: 2 },
  { expiresInMs: 30 },
  { approvers: ["a", "b"], quorum: 2, expiresInMs: 60 },
];
const names = ["a", "b", "c", "rita"];

const op = fc.oneof(
  fc.record({ do: fc.constant("ask" as const), call: fc.nat(2) }),
  fc.record({
    do: fc.constantFrom("decide" as const, "settle" as const),
    call: fc.nat(2),
    who: fc.nat(3),
    says: fc.constantFrom("yes", "no", "edit", "big edit", "nothing"),
    attempt: fc.nat(3),
  }),
  fc.record({
    do: fc.constantFrom("withdraw" as const, "conclude" as const),
    call: fc.nat(2),
    attempt: fc.nat(3),
  }),
  fc.record({ do: fc.constant("sweep" as const) }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.nat(20) }),
);
type Op = typeof op extends fc.Arbitrary<infer T> ? T : never;

const edits: EditPort = {
  validate: ({ arguments: args }) =>
    (args as { cents: number }).cents > 100
      ? { status: "valid", arguments: args, rule: { approvers: ["c"] } }
      : { status: "valid", arguments: args },
};

async function decisionOf(who: string, says: string) {
  const by = await person(who);
  if (says === "nothing") return undefined;
  if (says === "no") return deny({ by });
  if (says === "yes") return approve({ by });
  return approve({
    by,
    edited: editedArguments("issue_refund", { cents: says === "edit" ? 1 : 1_000 }),
  });
}

/** Loses every third answer, having applied the commit or not. */
function losing(real: ApprovalStore): ApprovalStore {
  let commits = 0;
  return {
    ...real,
    async commit(...commit) {
      commits += 1;
      if (commits % 6 === 3) return { status: "unknown", cause: "lost on the way" };
      const outcome = await real.commit(...commit);
      return commits % 6 === 0 ? { status: "unknown", cause: "lost on the way back" } : outcome;
    },
  };
}

function stage() {
  const clock = handClock();
  const real = memoryApprovalStore(memoryHome({ clock }));
  const here = world({ store: losing(real), edits });
  const asked = (call: number) =>
    requestFor({ callId: `call-${call}`, rule: rules[call]! }, { id: `r${call}-${clock.now()}` });
  return { here, clock, asked, current: new Map<number, string>() };
}

type Stage = ReturnType<typeof stage>;

async function perform({ here, clock, asked, current }: Stage, what: Op): Promise<void> {
  if (what.do === "wait") return clock.move(what.ms);
  if (what.do === "sweep") return void (await here.records.sweep(scope));
  const id = current.get(what.call);
  if (what.do === "ask" || id === undefined) {
    const answer = await here.port.request(asked(what.call), how());
    if (answer.approvalId !== undefined) current.set(what.call, answer.approvalId);
    return;
  }
  const at = { scope, id, attemptId: `attempt-${what.attempt}` };
  if (what.do === "decide") {
    const decision = await decisionOf(names[what.who]!, what.says);
    if (decision !== undefined) await here.records.decide({ ...at, decision });
    return;
  }
  const writes = await writesOf(here, what, at);
  for (let tries = 0; writes.length > 0 && tries < 4; tries += 1) {
    if ((await here.store.commit(`${at.attemptId}-${what.do}`, writes)).status !== "unknown")
      return;
  }
}

async function writesOf(
  { records }: Stage["here"],
  what: Op,
  at: { readonly scope: string; readonly id: string; readonly attemptId: string },
) {
  if (what.do === "withdraw") return records.withdraw({ ...at, reason: "cancelled" });
  if (what.do === "conclude") return records.conclude({ ...at, outcome: "executed" });
  if (what.do !== "settle") return [];
  const decision = await decisionOf(names[what.who]!, what.says);
  const brought = decision === undefined ? {} : { decision };
  const { argumentsDigest } = requestFor();
  const plan = await records.settle({ ...at, argumentsDigest, ...brought });
  return plan.status === "ready" || plan.status === "open" ? plan.writes : [];
}

const ranks = { pending: 0, decided: 1, consumed: 2 };

/** What may never change once it is so. */
function assertOnward(before: RecordState | undefined, after: RecordState): void {
  if (before === undefined) return;
  expect(ranks[after.state]).toBeGreaterThanOrEqual(ranks[before.state]);
  if (before.state === "pending" || after.state === "pending") return;
  expect(after.decision).toEqual(before.decision);
  if (before.state === "decided" || after.state === "decided") return;
  expect(after.attemptId).toBe(before.attemptId);
  expect(after.outcome).toBe(before.outcome ?? after.outcome);
}

it("APR-20 APR-21 APR-22 hold over random lives, lost answers and a moving clock", async () => {
  const run = async (ops: readonly Op[]) => {
    const on = stage();
    const { records, store } = on.here;
    const known = new Map<string, RecordState>();
    for (const what of ops) {
      await perform(on, what).catch((error: unknown) => {
        if (!isApprovalError(error)) throw error;
      });
      for (const row of await store.list(scope, {}, { order: "oldest", limit: 500 })) {
        const view = (await records.show(scope, row.key))!;
        const standing =
          view.replacedBy === undefined ? await records.read(scope, row.key) : undefined;
        if (standing === undefined) continue;
        assertOnward(known.get(row.key), standing);
        known.set(row.key, standing);
      }
    }
    for (const { id, state, replaces } of (await records.list(scope, { limit: 500 })).items) {
      const report = await records.verifyAudit(scope, id);
      if (report.status !== "whole") throw new Error(`${id} is ${report.status}`);
      const kinds = report.entries.map((entry) => entry.kind);
      const count = (kind: string) => kinds.filter((one) => one === kind).length;
      expect([count("requested"), kinds[0]]).toEqual([1, "requested"]);
      expect(count("consumed") + count("withdrawn")).toBe(state === "consumed" ? 1 : 0);
      expect(count("decided")).toBeLessThanOrEqual(1);
      expect(count("concluded")).toBeLessThanOrEqual(1);
      const replaced = await records.show(scope, replaces ?? id);
      expect(replaced?.replacedBy).toBe(replaces === undefined ? replaced?.replacedBy : id);
    }
    for (const state of ["pending", "decided", "consumed"] as const) {
      const { items, broken } = await records.list(scope, { filter: { state }, limit: 500 });
      expect(broken).toEqual([]);
      expect(items.every((item) => item.state === state)).toBe(true);
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(op, { minLength: 5, maxLength: 40 }), run), {
    numRuns: 60,
  });
});
