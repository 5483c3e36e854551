import { expect, it } from "vitest";

import { approvalStoreCases, type StoreUnderTest } from "../src/contract.ts";
import { memoryApprovalStore, memoryHome } from "../src/index.ts";
import { handClock, tellingTime } from "./world.ts";

function make() {
  const clock = handClock();
  const home = memoryHome({ clock });
  return {
    store: memoryApprovalStore(home),
    another: () => memoryApprovalStore(home),
    advance: (ms: number) => clock.move(ms),
    close: () => undefined,
  };
}

it.each(approvalStoreCases)("$name", async ({ run }) => {
  await expect(run(make)).resolves.toBeUndefined();
});

it.each(approvalStoreCases)(
  "$name, in a store that tells the time with what it reads",
  async ({ run }) => {
    const timed = (): StoreUnderTest => {
      const { store, ...more } = make();
      return { ...more, store: tellingTime(store), another: () => tellingTime(store) };
    };
    await expect(run(timed)).resolves.toBeUndefined();
  },
);
