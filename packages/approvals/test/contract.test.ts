import { expect, it } from "vitest";

import { approvalStoreCases, type StoreUnderTest } from "../src/contract.ts";
import { memoryApprovalStore, memoryHome } from "../src/index.ts";
import { handClock } from "./world.ts";

function make(): StoreUnderTest {
  const clock = handClock();
  const home = memoryHome({ clock });
  return {
    store: memoryApprovalStore(home),
    another: () => memoryApprovalStore(home),
    advance: (ms) => clock.move(ms),
    close: () => undefined,
  };
}

it.each(approvalStoreCases)("$name", async ({ run }) => {
  await expect(run(make)).resolves.toBeUndefined();
});
