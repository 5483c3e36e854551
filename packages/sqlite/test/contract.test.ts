import { approvalStoreCases } from "@holdpoint/approvals/contract";
import { leaseStoreCases, outboxStoreCases, runRegistryCases } from "@holdpoint/workflows/contract";
import { describe, expect, it } from "vitest";

import { openSqlite, type SqliteStore } from "../src/index.ts";
import { movedClock, place } from "./place.ts";

/** A new file, and what a test alone may do to it; `port` is the part of a store that the cases are about. */
function fileWith<T>(port: (store: SqliteStore) => T) {
  const path = place()();
  const clock = movedClock();
  const stores: SqliteStore[] = [];
  const another = (): T => {
    const store = openSqlite(path, { clock });
    stores.push(store);
    return port(store);
  };
  return {
    first: another(),
    another,
    advance: (ms: number) => clock.move(ms),
    close: () => stores.forEach((store) => store.close()),
  };
}

describe("the approvals' contract", () => {
  it.each(approvalStoreCases)("STORE-02 CASE-088 $name", async ({ run }) => {
    const make = () => {
      const { first: store, ...more } = fileWith(({ approvals }) => approvals);
      return { store, ...more };
    };
    await expect(run(make)).resolves.toBeUndefined();
  }); // racing askers try as often as the square of their number, and each winner waits for the disk
});

describe("the run registry's contract", () => {
  it.each(runRegistryCases)("STORE-02 CASE-088 $name", async ({ run }) => {
    const make = () => {
      const { first: registry, ...more } = fileWith(({ runs }) => runs);
      return { registry, ...more };
    };
    await expect(run(make)).resolves.toBeUndefined();
  });
});

describe("the leases' contract", () => {
  it.each(leaseStoreCases)("STORE-02 CASE-088 $name", async ({ run }) => {
    const make = () => {
      const { first: leases, ...more } = fileWith((store) => store.leases);
      return { leases, ...more };
    };
    await expect(run(make)).resolves.toBeUndefined();
  });
});

describe("the outbox's contract", () => {
  it.each(outboxStoreCases)("STORE-02 CASE-088 $name", async ({ run }) => {
    const make = () => {
      const { first: outbox, ...more } = fileWith((store) => store.outbox);
      return { outbox, ...more };
    };
    await expect(run(make)).resolves.toBeUndefined();
  });
});
