import { memoryHome } from "@holdpoint/approvals";
import { expect, it } from "vitest";

import { runRegistryCases, type RegistryUnderTest } from "../src/contract.ts";
import { memoryRunRegistry } from "../src/index.ts";

function make(): RegistryUnderTest {
  const home = memoryHome();
  return {
    registry: memoryRunRegistry(home),
    another: () => memoryRunRegistry(home),
    setEpoch: (lease, epoch) => home.setEpoch(lease, epoch),
    close: () => undefined,
  };
}

it.each(runRegistryCases)("$name", async ({ run }) => {
  await expect(run(make)).resolves.toBeUndefined();
});
