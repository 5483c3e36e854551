/**
 * What the workloads need and nothing else, by hand: the same rows sealed by an HMAC over their JSON, one sealed append per event,
 * one commit where one is due. No checks of what was changed, no schemas, no leases.
 */
import { createHmac } from "node:crypto";

/** A database by hand. */
export interface Bare {
  commit(writes: Writes): Promise<void>;
  /** The first page of runs that wait. */
  page(limit: number): Promise<readonly string[]>;
  entries(run: string): Promise<readonly string[]>;
  approval(id: string): Promise<string>;
  /** Runs of a status, with their sealed rows. */
  runsOf(status: string): Promise<readonly { readonly id: string; readonly sealed: string }[]>;
  close(): Promise<void>;
}

export interface Writes {
  readonly log?: readonly { readonly run: string; readonly at: number; readonly sealed: string }[];
  readonly approvals?: readonly Row[];
  readonly audit?: readonly { readonly id: string; readonly sealed: string }[];
  readonly runs?: readonly Row[];
}

export interface Row {
  readonly id: string;
  readonly status: string;
  readonly time: number;
  readonly sealed: string;
}

const key = new Uint8Array(32).fill(7);

function seal(value: unknown): string {
  const text = JSON.stringify(value);
  return `${createHmac("sha256", key).update(text).digest("base64url")}.${text}`;
}

function open(sealed: string): unknown {
  const text = sealed.slice(44);
  const mac = createHmac("sha256", key).update(text).digest("base64url");
  if (mac !== sealed.slice(0, 43)) throw new Error("changed");
  return JSON.parse(text);
}

/** As much as an event, a record and a run's row hold. */
const event = (type: string) => seal({ type, visit: "review#1", at: 1, more: "x".repeat(200) });
const row = (id: string, status: string) => seal({ id, status, more: "x".repeat(700) });

/** A run that waits for one approval. */
export function waitingRun(id: string, time: number): Writes {
  const log = ["run-started", "approval-requested", "visit-waiting", "paused"];
  return {
    log: log.map((type, at) => ({ run: id, at, sealed: event(type) })),
    approvals: [{ id, status: "pending", time, sealed: row(id, "pending") }],
    audit: [{ id: `${id}/1`, sealed: event("requested") }],
    runs: [{ id, status: "waiting", time, sealed: row(id, "waiting") }],
  };
}

/** A run whose process died in its third call. */
export function runningRun(id: string): Writes {
  const log = ["run-started", "visit-started", "call-finished", "call-finished"];
  return {
    log: log.map((type, at) => ({ run: id, at, sealed: event(type) })),
    runs: [{ id, status: "running", time: 1, sealed: row(id, "running") }],
  };
}

export async function listPage(bare: Bare, limit: number): Promise<number> {
  const rows = await bare.page(limit);
  for (const sealed of rows) open(sealed);
  return rows.length;
}

/** Decides and carries on to the end: a decision's commit, the spending one, the end. */
export async function decideAndResume(bare: Bare, id: string, onResumed: () => void) {
  open(await bare.approval(id));
  const approval = (status: string) => [{ id, status, time: 1, sealed: row(id, status) }];
  const audit = (at: number) => [{ id: `${id}/${at}`, sealed: event("audit") }];
  const run = (status: string) => [{ id, status, time: 1, sealed: row(id, status) }];
  await bare.commit({ approvals: approval("decided"), audit: audit(2) });
  const entries = await bare.entries(id);
  for (const entry of entries) open(entry);
  const from = entries.length;
  const log = (types: readonly string[], first: number) =>
    types.map((type, at) => ({ run: id, at: first + at, sealed: event(type) }));
  await bare.commit({
    log: log(["answered"], from),
    approvals: approval("consumed"),
    audit: audit(3),
    runs: run("running"),
  });
  onResumed();
  const rest = ["visit-finished", "routed", "visit-started", "visit-finished", "completed"];
  await bare.commit({ log: log(rest, from + 1), runs: run("completed") });
}

/** Goes on with every run that was at work: two calls each, and the end. */
export async function recoverAll(bare: Bare, call: () => Promise<unknown>): Promise<number> {
  const runs = await bare.runsOf("running");
  await Promise.all(
    runs.map(async ({ id, sealed }) => {
      open(sealed);
      const entries = await bare.entries(id);
      for (const entry of entries) open(entry);
      let at = entries.length;
      for (let left = 2; left > 0; left -= 1) {
        await call();
        await bare.commit({ log: [{ run: id, at, sealed: event("call-finished") }] });
        at += 1;
      }
      await bare.commit({
        log: ["visit-finished", "completed"].map((type, more) => ({
          run: id,
          at: at + more,
          sealed: event(type),
        })),
        runs: [{ id, status: "completed", time: 1, sealed: row(id, "completed") }],
      });
    }),
  );
  return runs.length;
}
