// Questions that were filed for a run and are not in its log: none outlives the run's cancellation.
import { approve, DeferredApproval, type ApprovalStore, type Write } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { faultyStores } from "../faulty-stores.ts";
import { rest } from "../timed-clock.ts";
import { dana, keyring, world } from "../world.ts";

const input = { orderId: "A-17" };
const scope = "default";

/** A run whose process died once its question was filed, before its log could say so. */
async function orphaned(how: "together" | "apart") {
  const here = world(how);
  const { records } = new DeferredApproval(here.store.approvals, { keyring });
  /** What is asked, or decided and not used. */
  const unspent = async () => {
    const page = async (state: "pending" | "decided") =>
      (await records.list(scope, { filter: { state } })).items.map(({ id }) => id);
    return [...(await page("pending")), ...(await page("decided"))];
  };
  let told: () => void = () => undefined;
  const died = new Promise<void>((resolve) => (told = resolve));
  let isFiled = false;
  const { approvals, log } = here.store;
  const dying = {
    ...here.store,
    approvals: {
      ...approvals,
      commit: (...[attemptId, writes]: Parameters<ApprovalStore["commit"]>) => {
        isFiled = true;
        return approvals.commit(attemptId, writes);
      },
    },
    log: {
      ...log,
      commit: (...[attemptId, writes]: Parameters<ApprovalStore["commit"]>) => {
        if (!isFiled) return log.commit(attemptId, writes);
        told();
        return new Promise<never>(() => undefined);
      },
    },
  };
  const { runId } = await here.open(dying).desk.start("refund", input);
  await died;
  return { ...here, records, unspent, runId };
}

/**
 * A run whose question is on its way when it is cancelled: its store takes it when the test says so. `dies`: the process, as soon as
 * the log says that the run has ended.
 */
async function filing(how: "together" | "apart", dies: boolean) {
  const here = world(how);
  const { approvals, log } = here.store;
  const { records } = new DeferredApproval(approvals, { keyring });
  const signal = () => {
    let give: () => void = () => undefined;
    const given = new Promise<void>((resolve) => (give = resolve));
    return { give, given };
  };
  const [asked, taken, died] = [signal(), signal(), signal()];
  let isAsked = false;
  const store = {
    ...here.store,
    approvals: {
      ...approvals,
      commit: async (...[attemptId, writes]: Parameters<ApprovalStore["commit"]>) => {
        const isFirst = !isAsked;
        isAsked = true;
        asked.give();
        if (isFirst) await taken.given;
        return approvals.commit(attemptId, writes);
      },
    },
    log: {
      ...log,
      commit: async (...[attemptId, writes]: Parameters<ApprovalStore["commit"]>) => {
        const outcome = await log.commit(attemptId, writes);
        if (!isAsked || !dies) return outcome;
        died.give();
        return new Promise<never>(() => undefined);
      },
    },
  };
  const { desk } = here.open(store);
  const { runId } = await desk.start("refund", input);
  await asked.given;
  return { ...here, records, desk, runId, take: taken.give, died: died.given };
}

describe.each(["together", "apart"] as const)("a question that is being filed, %s", (how) => {
  it("WF-26 is waited for and withdrawn before the run's end, right after which its process may die", async () => {
    for (const dies of [false, true]) {
      const { desk, open, records, runId, take, died } = await filing(how, dies);
      const cancel = desk.cancel(runId, { reason: "enough" });
      await rest();
      expect((await desk.get(runId))?.status).toBe("running");
      take();
      await Promise.race([cancel, died]);
      const next = open().desk;
      await next.adoptAll();
      expect((await next.settled(runId)).status).toBe("cancelled");
      const { items } = await records.list(scope, {});
      expect(items.map(({ state }) => state)).toEqual(["consumed"]);
    }
  });
});

describe.each(["together", "apart"] as const)("a question that its run's log lacks, %s", (how) => {
  it("WF-26 is withdrawn with the run, whether it is decided or not", async () => {
    for (const decided of [false, true]) {
      const here = await orphaned(how);
      const [id] = await here.unspent();
      if (decided) await here.records.decide({ scope, id: id!, decision: approve({ by: dana }) });
      const view = await here.open().desk.cancel(here.runId, { reason: "enough" });
      expect(view.status).toBe("cancelled");
      expect(await here.unspent()).toEqual([]);
    }
  });

  it("WF-26 outlives no cancel that a crash cut off: whoever takes the run up ends both", async () => {
    for (const kind of ["die-before", "die-after"] as const) {
      for (let at = 1; ; at += 1) {
        const here = await orphaned(how);
        const { store, died } = faultyStores(here.homes, at, kind);
        const cancel = here.open(store).desk.cancel(here.runId, { reason: "enough" });
        const ended = await Promise.race([cancel.then(() => true), died.then(() => false)]);
        const { desk } = here.open();
        await desk.adoptAll();
        const { status } = await desk.settled(here.runId);
        expect(status).toBe(at === 1 && kind === "die-before" ? "interrupted" : "cancelled");
        expect(status === "cancelled" ? await here.unspent() : []).toEqual([]);
        if (ended) break;
      }
    }
  });

  it("WF-26 is withdrawn although somebody decides it in that very moment", async () => {
    const here = await orphaned(how);
    const [id] = await here.unspent();
    const { approvals } = here.store;
    let isMeanwhile = true;
    const store = {
      ...here.store,
      approvals: {
        ...approvals,
        commit: async (...[attemptId, writes]: Parameters<ApprovalStore["commit"]>) => {
          if (isMeanwhile) {
            isMeanwhile = false;
            await here.records.decide({ scope, id: id!, decision: approve({ by: dana }) });
          }
          return approvals.commit(attemptId, writes);
        },
      },
    };
    await here.open(store).desk.cancel(here.runId, { reason: "enough" });
    expect(await here.unspent()).toEqual([]);
    expect(await here.records.read(scope, id!)).toMatchObject({
      state: "consumed",
      outcome: "unused",
    });
  });

  it("WF-26 WF-32 is told to the operator where somebody moves it at every try", async () => {
    const here = await orphaned(how);
    const [id] = await here.unspent();
    const { approvals } = here.store;
    const isWithdrawal = ({ key, statement }: Write): boolean =>
      statement === "approvals.put" && key === id;
    const store = {
      ...here.store,
      approvals: {
        ...approvals,
        // As if the row had moved on right before: the store refuses it each time.
        commit: (...[attemptId, writes]: Parameters<ApprovalStore["commit"]>) =>
          approvals.commit(
            attemptId,
            writes.map((write) =>
              isWithdrawal(write) ? { ...write, expect: Number(write.expect) + 1 } : write,
            ),
          ),
      },
    };
    const told: unknown[] = [];
    const error = (message: string, facts: object): void => void told.push({ message, ...facts });
    const { desk } = here.open(store, { logger: { warn: () => undefined, error } });
    expect(await desk.cancel(here.runId, { reason: "enough" })).toMatchObject({
      status: "cancelled",
    });
    const message = "an approval of a cancelled run could not be taken back";
    expect(told).toContainEqual({ message, runId: here.runId, approvalId: id });
    expect(await here.unspent()).toEqual([id]);
  });
});
