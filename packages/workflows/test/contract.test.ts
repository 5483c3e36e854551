import { memoryHome } from "@holdpoint/approvals";
import { runContract } from "@holdpoint/testing";
import { it } from "vitest";

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

runContract(runRegistryCases, make, { it });
