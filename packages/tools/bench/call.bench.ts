/**
 * What a call costs over validation and the bare function; the limit is 20 µs. Measured on the
 * built packages, loaded by Node itself (`pnpm build` first): the test runner's own module loader
 * makes every imported name a getter.
 */
import { createRequire } from "node:module";

import type { ApprovalPort } from "@holdpoint/approvals";
import { expect, test } from "vitest";

const load = createRequire(import.meta.url);
const { defineTool, Executor, memoryLedger } = load(
  "@holdpoint/tools",
) as typeof import("../src/index.ts");
const { z } = load("zod") as typeof import("zod");

const limitUs = 20;

const input = z.object({
  orderId: z.string(),
  cents: z.int().positive(),
  note: z.string().optional(),
});
const output = z.object({ refundId: z.string() });
const args = { orderId: "A-17", cents: 4900, note: "damaged" };
const effect = async ({ orderId }: { orderId: string }): Promise<{ refundId: string }> => ({
  refundId: `R-${orderId}`,
});

const base = { name: "refund", description: "", input, output, execute: effect };
const free = defineTool(base);
const held = defineTool({ ...base, confirm: ({ cents }) => cents > 100 });
const limited = defineTool({ ...base, timeoutMs: 60_000 });

const by = { id: "everybody", assurance: "none" } as const;
const approvals: ApprovalPort = {
  request: async () => ({ status: "decided", decision: { approved: true, by, at: Date.now() } }),
};
const executor = new Executor({ approvals });
const ledger = memoryLedger(100);
const watched = new Executor({ approvals, ledger, listeners: [() => undefined] });

const calls: readonly [string, () => Promise<unknown>][] = [
  ["no approval", () => executor.call(free, args)],
  ["no approval, with a time limit", () => executor.call(limited, args)],
  ["approved at once", () => executor.call(held, args)],
  ["approved at once, with ledger and listener", () => watched.call(held, args)],
];

test("a call costs less than 20 µs over validation and the bare function", async ({ bench }) => {
  const bare = await bench("validation and the bare function", async () => {
    output.parse(await effect(input.parse(args)));
  }).run();
  for (const [name, call] of calls) {
    const { latency } = await bench(name, call).run();
    expect((latency.p50 - bare.latency.p50) * 1000).toBeLessThan(limitUs);
  }
});
