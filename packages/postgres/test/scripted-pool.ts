import { EventEmitter } from "node:events";

import type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from "../src/index.ts";

/** A connection that answers as a test says. */
export interface ScriptedClient extends PostgresClient {
  readonly emits: EventEmitter;
  /** What it was given back with; `undefined`: it was not, or in order. */
  readonly released: Error | undefined;
  readonly isBack: boolean;
}

/** A driver without a server: what a server can't be brought to do at a certain moment. */
export function scriptedPool(
  query: (asked: PostgresQuery) => Promise<PostgresResult>,
  connecting: () => Promise<unknown> = () => Promise.resolve(),
): { readonly pool: PostgresPool; readonly clients: readonly ScriptedClient[] } {
  const clients: ScriptedClient[] = [];
  const pool: PostgresPool = {
    async connect() {
      await connecting();
      const emits = new EventEmitter();
      let isBack = false;
      let released: Error | undefined;
      const client: ScriptedClient = {
        emits,
        get released() {
          return released;
        },
        get isBack() {
          return isBack;
        },
        query,
        release(broken) {
          isBack = true;
          released = broken;
        },
        on: emits.on.bind(emits),
        removeListener: emits.removeListener.bind(emits),
      };
      clients.push(client);
      return client;
    },
  };
  return { pool, clients };
}
