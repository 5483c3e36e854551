import { Pool } from "pg";

import type { PostgresClient, PostgresPool, PostgresQuery } from "../src/index.ts";

/** A statement that a store sends. */
export interface DriverCall {
  readonly query: PostgresQuery;
  /** Its first words. */
  readonly verb: string;
  /** Counted from 1 since the last `reset`. */
  readonly number: number;
  /** The server's process that it is sent to. */
  readonly backend: number;
}

/** What happens at a statement: before it is sent, instead of it, or after it was answered. */
export interface Fault {
  readonly before?: (call: DriverCall) => Promise<unknown>;
  readonly instead?: (call: DriverCall) => Error | undefined;
  readonly after?: (call: DriverCall) => Promise<Error | undefined> | Error | undefined;
}

export interface WatchedPool extends PostgresPool {
  /** Every statement since the last `reset`, in order. */
  readonly calls: readonly DriverCall[];
  /** Forgets the calls and takes another fault. */
  reset(fault?: Fault): void;
  readonly real: Pool;
}

/** A real pool that tells what is done with it, and fails where a test says so. */
export function watchedPool(url: string, max = 4): WatchedPool {
  const real = new Pool({ connectionString: url, max });
  real.on("error", () => {}); // tests end connections
  let calls: DriverCall[] = [];
  let fault: Fault = {};
  return {
    real,
    get calls() {
      return calls;
    },
    reset(next = {}) {
      calls = [];
      fault = next;
    },
    async connect(): Promise<PostgresClient> {
      const client = await real.connect();
      const backend = Number(Reflect.get(client, "processID"));
      const watched: PostgresClient = {
        async query(query) {
          // Announcements follow commits by themselves: when they are sent is no part of what is watched.
          if (query.text.includes("pg_notify")) return client.query(query);
          const verb = query.text.trim().split(/\s+/, 2).join(" ");
          const call = { query, verb, number: calls.length + 1, backend };
          calls.push(call);
          await fault.before?.(call);
          const fails = fault.instead?.(call);
          if (fails !== undefined) throw fails;
          const result = await client.query(query);
          const failed = await fault.after?.(call);
          if (failed !== undefined) throw failed;
          return result;
        },
        release: (broken) => client.release(broken),
        on: client.on.bind(client),
        removeListener: client.removeListener.bind(client),
      };
      return watched;
    },
    options: { max },
  };
}

/** An error as the driver makes it of what a server says. */
export function serverError(code: string, message: string, severity = "ERROR"): Error {
  return Object.assign(new Error(message), { code, severity });
}
