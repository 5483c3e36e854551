import { approvalStoreCases } from "@holdpoint/approvals/contract";
import { runRegistryCases } from "@holdpoint/workflows/contract";
import { Pool, type PoolClient } from "pg";
import { afterEach, describe, expect, it } from "vitest";

import { openPostgres, type PostgresClient, type PostgresPool } from "../src/index.ts";
import { movedClock, place, url } from "./place.ts";
import { put } from "./record-writes.ts";

interface TransactionPooler extends PostgresPool {
  /** Statements that need the connection of the one before: prepared by name, `LISTEN`, settings of a session. */
  readonly sins: readonly string[];
  end(): Promise<void>;
}

/** Gives every transaction another connection, and forgets what the one before left in it, as a pooler in transaction mode does. */
function transactionPooler(): TransactionPooler {
  const real = new Pool({ connectionString: url, max: 5 });
  const sins: string[] = [];
  async function connect(): Promise<PostgresClient> {
    let bound: PoolClient | undefined;
    return {
      async query(query) {
        const { text } = query;
        if (
          query.name !== undefined ||
          /^\s*(LISTEN|SET (?!LOCAL)|SELECT pg_advisory_lock)/i.test(text)
        ) {
          sins.push(text);
        }
        const client = bound ?? (await real.connect());
        bound = client;
        try {
          return await client.query(query);
        } finally {
          const isInside = (client.getTransactionStatus() ?? "I") !== "I";
          if (!isInside) {
            bound = undefined;
            await client.query("DISCARD ALL");
            client.release();
          }
        }
      },
      release: (broken) => bound?.release(broken),
      on: () => undefined,
      removeListener: () => undefined,
    };
  }
  return { connect, sins, end: () => real.end() };
}

const poolers: TransactionPooler[] = [];
afterEach(async () => {
  for (const pooler of poolers.splice(0)) await pooler.end();
});

/** A store behind such a pooler, as a contract's cases want one. */
async function behindPooler() {
  const schema = place();
  const { nowSql, move } = await movedClock(schema);
  const open = async () => {
    const pooler = transactionPooler();
    poolers.push(pooler);
    return openPostgres(pooler, { schema, nowSql, behindPooler: true });
  };
  return {
    open,
    advance: async (ms: number) => void (await move(ms)),
    close: () => expect(poolers.flatMap(({ sins }) => sins)).toEqual([]),
  };
}

// Those of the store itself; what is built on it races in `contract.test.ts`.
const cases = approvalStoreCases.filter(
  ({ name }) => /APR-2[3679]/.test(name) && !/64|40 racing|watcher/.test(name),
);

describe("behind a pooler in transaction mode", () => {
  it.each(cases)("STORE-04 R086 $name", async ({ run }) => {
    const make = async () => {
      const { open, ...more } = await behindPooler();
      const another = async () => (await open()).approvals;
      return { store: await another(), another, ...more };
    };
    await expect(run(make)).resolves.toBeUndefined();
  });

  it.each(runRegistryCases)("STORE-04 R086 $name", async ({ run }) => {
    const make = async () => {
      const { open, ...more } = await behindPooler();
      const another = async () => (await open()).runs;
      return { registry: await another(), another, ...more };
    };
    await expect(run(make)).resolves.toBeUndefined();
  });

  it("STORE-04 is named where the pooler was not told of", async () => {
    const pooler = transactionPooler();
    poolers.push(pooler);
    const schema = place();
    const store = await openPostgres(pooler, { schema });
    const twice = async (): Promise<void> => {
      for (let at = 0; at < 2; at += 1) await store.commit(`c-${at}`, [put(`r-${at}`, 0)]);
    };
    await expect(twice()).rejects.toMatchObject({ code: "store-unavailable", reason: "pooler" });
  });
});
