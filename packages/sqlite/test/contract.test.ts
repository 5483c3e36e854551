import { DatabaseSync } from "node:sqlite";

import { approvalStoreCases, type StoreUnderTest } from "@holdpoint/approvals/contract";
import { describe, expect, it } from "vitest";

import { openSqlite } from "../src/index.ts";
import { movedClock, place } from "./place.ts";

function make(): StoreUnderTest {
  const path = place()();
  const clock = movedClock();
  const stores = [openSqlite(path, { clock })];
  return {
    store: stores[0]!.approvals,
    another() {
      const store = openSqlite(path, { clock });
      stores.push(store);
      return store.approvals;
    },
    advance: (ms) => clock.move(ms),
    setEpoch(name, epoch) {
      const handle = new DatabaseSync(path);
      handle.prepare("INSERT OR REPLACE INTO leases (name, epoch) VALUES (?, ?)").run(name, epoch);
      handle.close();
    },
    close() {
      for (const store of stores) store.close();
    },
  };
}

describe("the approvals' contract", () => {
  it.each(approvalStoreCases)(
    "STORE-02 $name",
    async ({ run }) => {
      await expect(run(make)).resolves.toBeUndefined();
    },
    30_000,
  ); // racing askers try as often as the square of their number, and each winner waits for the disk
});
