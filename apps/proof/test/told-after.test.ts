import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";

import type { ApprovalStore } from "@holdpoint/approvals";
import { approve, type RunLog, type RunNotice } from "@holdpoint/flow";
import { openPostgres } from "@holdpoint/postgres";
import { openSqlite } from "@holdpoint/sqlite";
import { verified } from "@holdpoint/testing";
import { Workflows, type RunRegistry } from "@holdpoint/workflows";
import { Pool } from "pg";
import { describe, expect, inject, it } from "vitest";

import type {} from "../../../scripts/postgres/global-setup.ts";
import { folderFor } from "../src/child-process.ts";
import { keyring, orders } from "../src/waiting/orders.ts";

interface Ports {
  readonly approvals: ApprovalStore;
  readonly log: RunLog;
  readonly runs: RunRegistry;
}

interface Opened {
  readonly store: Ports;
  /** The same place, by a connection of its own: it sees what was committed, and nothing else. */
  readonly beside: Ports;
  readonly close: () => Promise<void>;
}

async function onFile(): Promise<Opened> {
  const folder = folderFor("told");
  const [store, beside] = [openSqlite(join(folder, "a.db")), openSqlite(join(folder, "a.db"))];
  return {
    store,
    beside,
    close: async () => {
      store.close();
      beside.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function onServer(): Promise<Opened> {
  const url = inject("postgresUrl");
  const schema = `told_${process.pid}`;
  const store = await openPostgres(url, { schema });
  const beside = await openPostgres(url, { schema });
  return {
    store,
    beside,
    close: async () => {
      await Promise.all([store.close(), beside.close()]);
      const pool = new Pool({ connectionString: url, max: 1 });
      await pool.query(`DROP SCHEMA ${schema} CASCADE`);
      await pool.end();
    },
  };
}

/** A log that sees what is told of entries while they are being committed. */
function watching(log: RunLog, told: readonly RunNotice[], early: RunNotice[]): RunLog {
  const read: RunLog["read"] = (scope, runId, after, limit) => log.read(scope, runId, after, limit);
  return {
    home: log.home,
    durable: log.durable,
    now: () => log.now(),
    head: (scope, runId) => log.head(scope, runId),
    snapshot: (scope, runId) => log.snapshot(scope, runId),
    read,
    async commit(attemptId, writes) {
      const revisions = new Set(writes.map(({ values }) => values["revision"]));
      const from = told.length;
      const outcome = await log.commit(attemptId, writes);
      early.push(...told.slice(from).filter(({ revision }) => revisions.has(revision)));
      return outcome;
    },
  };
}

describe.each([
  ["a file", onFile],
  ["a server", onServer],
])("on %s", (_, opened) => {
  it("STORE-14 R024 a start, an event, a decision and an answer over HTTP are told once they stand, and never before", async () => {
    const { store, beside, close } = await opened();
    const told: RunNotice[] = [];
    const early: RunNotice[] = [];
    const desk = new Workflows({
      store: { ...store, log: watching(store.log, told, early) },
      definitions: [orders],
      keyring,
      onEvent: (notice) => void told.push(notice),
    });
    const server = createServer((request, response) => {
      const id = String(request.url).slice(1);
      void verified("dana")
        .then((by) => desk.decide(id, approve({ by })))
        .then(({ status }) => response.end(status));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    try {
      const { runId } = await desk.start("orders", { order: "A-17" });
      expect((await beside.runs.get("default", runId))?.key).toBe(runId);
      const { waitsFor, revision } = await desk.settled(runId);
      expect(await beside.log.head("default", runId)).toBe(revision);
      const [wait] = waitsFor;
      const answer = await fetch(`http://127.0.0.1:${port}/${wait!.id}`, { method: "POST" });
      expect(await answer.text()).toBe("accepted");
      const decided = await beside.approvals.get("default", wait!.id);
      expect(decided?.values["state"]).not.toBe("pending");
      const { status } = await desk.settled(runId);
      const stands = await beside.runs.get("default", runId);
      expect([status, stands?.values["status"]]).toEqual(["completed", "completed"]);
      expect(told.map(({ revision: each }) => each)).toEqual(told.map((_, at) => at + 1));
      expect(told.length).toBe(await beside.log.head("default", runId));
      expect(early).toEqual([]);
    } finally {
      server.close();
      await close();
    }
  });
});
