import { memoryHome } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import {
  leaseStoreCases,
  outboxStoreCases,
  runRegistryCases,
  type LeasesUnderTest,
  type RegistryUnderTest,
} from "../src/contract.ts";
import { memoryLeaseStore, memoryOutbox, memoryRunRegistry } from "../src/index.ts";
import { handClock } from "./world.ts";

function registry(): RegistryUnderTest {
  const home = memoryHome();
  return {
    registry: memoryRunRegistry(home),
    another: () => memoryRunRegistry(home),
    close: () => undefined,
  };
}

function leases(): LeasesUnderTest {
  const clock = handClock();
  const home = memoryHome({ clock });
  return {
    leases: memoryLeaseStore(home),
    another: () => memoryLeaseStore(home),
    advance: (ms) => clock.move(ms),
    close: () => undefined,
  };
}

describe("the registry in memory", () => {
  it.each(runRegistryCases)("$name", async ({ run }) => {
    await expect(run(registry)).resolves.toBeUndefined();
  });
});

describe("the leases in memory", () => {
  it.each(leaseStoreCases)("$name", async ({ run }) => {
    await expect(run(leases)).resolves.toBeUndefined();
  });
});

describe("the outbox in memory", () => {
  it.each(outboxStoreCases)("$name", async ({ run }) => {
    const home = memoryHome();
    const make = () => ({
      outbox: memoryOutbox(home),
      another: () => memoryOutbox(home),
      close: () => undefined,
    });
    await expect(run(make)).resolves.toBeUndefined();
  });
});
