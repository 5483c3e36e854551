// What a page costs, by the machine's clock.
import { expect, it } from "vitest";

import { memoryApprovalStore, statements, systemClock, type Write } from "../src/index.ts";
import { scope } from "./world.ts";

it("APR-23 reads a page of pending records in the same time however many are decided", async () => {
  const store = memoryApprovalStore();
  const write = (at: number, state: string): Write => ({
    statement: statements.putRecord,
    scope,
    key: `${state}-${at}`,
    expect: 0,
    values: { state, requestedAt: at, expiresAt: null, tool: "t", runId: "r" },
  });
  const fill = async (from: number, to: number, state: string) => {
    for (let at = from; at < to; at += 5_000) {
      const many = Array.from({ length: 5_000 }, (_, next) => write(at + next, state));
      await store.commit(`${state}-${at}`, many);
    }
  };
  const timed = async () => {
    const times: number[] = [];
    for (let round = 0; round < 40; round += 1) {
      const start = systemClock.monotonic();
      await store.list(scope, { state: "pending" }, { order: "newest", limit: 50 });
      times.push(systemClock.monotonic() - start);
    }
    return Math.min(...times); // the others met something else that the machine did
  };
  await fill(0, 5_000, "pending");
  await timed();
  const before = await timed();
  await fill(0, 20_000, "decided");
  // A scan would be some hundred times slower; the bound leaves room for a busy machine.
  expect(await timed()).toBeLessThan(before * 10 + 2);
});
