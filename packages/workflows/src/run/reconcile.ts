import type { RunStatus } from "../registry/store.ts";

/**
 * A run's log at a glance. One that announced an answer to be spent in another store runs: only the attempt that announced it
 * may go on, which adoption repeats before anything else (STORE-13). `to-retry`: it failed, and its
 * definition's policy retries it.
 */
export type LogStatus =
  | "none"
  | "running"
  | "paused"
  | "completed"
  | "failed"
  | "to-retry"
  | "cancelled";

/**
 * What is to be done with a run that nobody holds.
 * `start`: from its seed. `adopt`: its process died at work. `resume`: what it waits for is decided. `wait`: only a person
 * moves it. `done`: it has ended. `fail`: its log is not what the registry saw of it. `retry`: what failed is attempted anew.
 */
export type Reconciled = {
  readonly do: "start" | "adopt" | "resume" | "retry" | "wait" | "done" | "fail";
  /** Where the registry has to go first, because the log is there. */
  readonly follow?: RunStatus;
};

type Row = Readonly<Record<"pending" | "running" | "interrupted", Reconciled | "paused">>;

/** Log by registry (WF-21). `paused` is decided by whether something that waits is decided. The log is always right. */
const table: Readonly<Record<LogStatus, Row>> = {
  // A run whose registry row says that it ran has had a log: without it, starting anew would repeat what it did.
  none: { pending: { do: "start" }, running: { do: "fail" }, interrupted: { do: "fail" } },
  running: {
    pending: { do: "adopt", follow: "running" },
    running: { do: "adopt" },
    interrupted: { do: "adopt", follow: "running" },
  },
  paused: { pending: "paused", running: "paused", interrupted: "paused" },
  completed: always({ do: "done", follow: "completed" }),
  failed: always({ do: "done", follow: "failed" }),
  "to-retry": {
    pending: { do: "retry", follow: "running" },
    running: { do: "retry" },
    interrupted: { do: "retry", follow: "running" },
  },
  cancelled: always({ do: "done", follow: "cancelled" }),
};

/** What to do with a run by what its log and its registry row say. Pure. */
export function reconcile(at: {
  readonly log: LogStatus;
  readonly registry: RunStatus;
  /** Whether something that it waits for is decided and not spent. */
  readonly decided: boolean;
}): Reconciled {
  const { log, registry, decided } = at;
  if (registry === "completed" || registry === "failed" || registry === "cancelled") {
    return { do: "done" };
  }
  const found = table[log][registry];
  if (found !== "paused") return found;
  return {
    do: decided ? "resume" : "wait",
    ...(registry !== "interrupted" && { follow: "interrupted" as const }),
  };
}

function always(what: Reconciled): Row {
  return { pending: what, running: what, interrupted: what };
}
