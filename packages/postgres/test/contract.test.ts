import { approvalStoreCases } from "@holdpoint/approvals/contract";
import { leaseStoreCases, outboxStoreCases, runRegistryCases } from "@holdpoint/workflows/contract";
import { describe, expect, it } from "vitest";

import type { PostgresStore } from "../src/index.ts";
import { movedClock, opened, place } from "./place.ts";

/** A new schema, and what a test alone may do to it; `port` is the part of a store that the cases are about. */
async function schemaWith<T>(port: (store: PostgresStore) => T) {
  const schema = place();
  const { nowSql, move } = await movedClock(schema);
  const another = async (): Promise<T> => port(await opened(schema, { nowSql }));
  return {
    first: await another(),
    another,
    advance: async (ms: number) => void (await move(ms)),
    close: () => {}, // with the test
  };
}

describe("the approvals' contract", () => {
  it.each(approvalStoreCases)("STORE-02 CASE-088 $name", async ({ run }) => {
    const make = async () => {
      const { first: store, ...more } = await schemaWith(({ approvals }) => approvals);
      return { store, ...more };
    };
    await expect(run(make)).resolves.toBeUndefined();
  });
});

describe("the run registry's contract", () => {
  it.each(runRegistryCases)("STORE-02 CASE-088 $name", async ({ run }) => {
    const make = async () => {
      const { first: registry, ...more } = await schemaWith(({ runs }) => runs);
      return { registry, ...more };
    };
    await expect(run(make)).resolves.toBeUndefined();
  });
});

describe("the leases' contract", () => {
  it.each(leaseStoreCases)("STORE-02 CASE-088 $name", async ({ run }) => {
    const make = async () => {
      const { first: leases, ...more } = await schemaWith((store) => store.leases);
      return { leases, ...more };
    };
    await expect(run(make)).resolves.toBeUndefined();
  });
});

describe("the outbox's contract", () => {
  it.each(outboxStoreCases)("STORE-02 CASE-088 $name", async ({ run }) => {
    const make = async () => {
      const { first: outbox, ...more } = await schemaWith((store) => store.outbox);
      return { outbox, ...more };
    };
    await expect(run(make)).resolves.toBeUndefined();
  });
});
