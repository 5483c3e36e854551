import { approvalStoreCases } from "@holdpoint/approvals/contract";
import { runRegistryCases } from "@holdpoint/workflows/contract";
import { describe, expect, it } from "vitest";

import type { PostgresStore } from "../src/index.ts";
import { movedClock, opened, place, setEpoch } from "./place.ts";

/** A new schema, and what a test alone may do to it; `port` is the part of a store that the cases are about. */
async function schemaWith<T>(port: (store: PostgresStore) => T) {
  const schema = place();
  const { nowSql, move } = await movedClock(schema);
  const another = async (): Promise<T> => port(await opened(schema, { nowSql }));
  return {
    first: await another(),
    another,
    advance: async (ms: number) => void (await move(ms)),
    setEpoch: (name: string, epoch: number) => setEpoch(schema, name, epoch),
    close: () => {}, // with the test
  };
}

describe("the approvals' contract", () => {
  it.each(approvalStoreCases)("STORE-02 $name", async ({ run }) => {
    const make = async () => {
      const { first: store, ...more } = await schemaWith(({ approvals }) => approvals);
      return { store, ...more };
    };
    await expect(run(make)).resolves.toBeUndefined();
  });
});

describe("the run registry's contract", () => {
  it.each(runRegistryCases)("STORE-02 $name", async ({ run }) => {
    const make = async () => {
      const { first: registry, ...more } = await schemaWith(({ runs }) => runs);
      return { registry, ...more };
    };
    await expect(run(make)).resolves.toBeUndefined();
  });
});
