import { approve, DeferredApproval, unverified } from "@holdpoint/approvals";
import { flow, FlowRunner, replies } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";

import { openPostgres } from "../src/index.ts";
import { cuttingProxy, type Cut, type CuttingProxy } from "./cutting-proxy.ts";
import { opened, place, url } from "./place.ts";
import { append, entry, put, scope } from "./record-writes.ts";

const proxies: CuttingProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.close();
});

async function throughProxy(schema: string) {
  await opened(schema);
  const proxy = await cuttingProxy(url, /^COMMIT$|^WITH s AS/);
  proxies.push(proxy);
  const store = await openPostgres(proxy.url, { schema, behindPooler: true });
  return { proxy, store };
}

/** One statement, and a list that has to be a transaction: two versions of one row. */
const forms = [
  { form: "statement", writes: [put("a", 0), append("a", 1), entry(1, "sealed")] },
  {
    form: "transaction",
    writes: [put("a", 0), append("a", 1), put("a", 1), entry(1, "sealed")],
  },
] as const;
const cuts = forms.flatMap((each) =>
  (["before", "after"] as const).map((when) => ({ ...each, when })),
);

describe("a connection that is cut at a commit", () => {
  it.each(cuts)(
    "STORE-07 APR-26 R077 leaves it unknown, $when the server got the $form, and its attempt learns the truth",
    async ({ when, writes }) => {
      const schema = place();
      const { proxy, store } = await throughProxy(schema);
      proxy.cut(when);
      expect(await store.commit("one", writes)).toMatchObject({ status: "unknown" });
      expect(proxy.cuts).toBe(1);
      const stands = when === "after";
      expect((await store.approvals.get(scope, "a"))?.attempt).toBe(stands ? "one" : undefined);
      expect(await store.commit("one", writes)).toEqual({ status: "done", repeated: stands });
      expect(await store.commit("two", writes)).toMatchObject({ status: "refused", write: 0 });
      expect(await store.log.head(scope, "run-1")).toBe(1);
      expect(await store.approvals.changes(scope, 0, 9)).toHaveLength(1);
      await store.close();
    },
  );
});

const keyring = keyringOf(new Uint8Array(32).fill(7));

/** A flow that asks, pays and ends, with what it paid. */
function desk() {
  const paid: string[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays money back.",
    input: z.object({ orderId: z.string() }),
    output: z.object({ refundId: z.string() }),
    execute: ({ orderId }, { idempotencyKey }) => {
      paid.push(idempotencyKey);
      return { refundId: `r-${orderId}` };
    },
  });
  const refund = flow("refund", z.object({ orderId: z.string(), refundId: z.string().optional() }))
    .gate("review", { payload: (state) => ({ orderId: state.orderId }) })
    .call("pay", pay, {
      args: (state) => ({ orderId: state.orderId }),
      into: (result) => ({ refundId: result.refundId }),
    })
    .path("review", "pay")
    .build();
  return { paid, refund };
}

describe("a run whose connection is cut at any of its commits", () => {
  it.each<Cut>(["before", "after"])(
    "STORE-05 APR-26 is paid once and ends as if nothing had happened: %s the server got it",
    async (when) => {
      let isCutAnywhere = true;
      for (let number = 1; isCutAnywhere; number += 1) {
        const schema = place();
        const { proxy, store } = await throughProxy(schema);
        const { paid, refund } = desk();
        const approvals = new DeferredApproval(store.approvals, { keyring });
        const runner = new FlowRunner({ approvals, log: store.log, keyring });
        proxy.cut(when, number);
        const paused = await runner.run(refund, { orderId: "A-17" }, { runId: "run-1" });
        if (paused.status !== "paused") throw new Error(paused.status);
        const yes = replies({ [paused.pending.id]: approve({ by: unverified("dana") }) });
        const done = await runner.resume(refund, "run-1", yes);
        expect(done).toMatchObject({ status: "completed", state: { refundId: "r-A-17" } });
        expect(paid).toHaveLength(1);
        const record = await store.approvals.get("default", paused.pending.id);
        expect(record?.values["state"]).toBe("consumed");
        isCutAnywhere = proxy.cuts === 1;
        expect(number).toBeLessThan(40);
        await store.close();
      }
    },
  );
});
