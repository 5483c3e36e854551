/**
 * One process in the chaos: a supervisor that starts what is to be done in the sessions that it holds, and people, who answer
 * whatever waits. It loads its program, says so, and begins when it is given its place. Killed at any moment; whoever comes next
 * goes on. Says each thing by a line.
 */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

import { approve } from "@holdpoint/approvals";
import { inDoubt } from "@holdpoint/flow";
import { openPostgres } from "@holdpoint/postgres";
import { verified } from "@holdpoint/testing";
import { Pool } from "pg";
import { Supervisor, type RunStatus, type RunView } from "@holdpoint/workflows";

import { Ledger, type Effect } from "../kill/ledger.ts";
import { keyring, orders, refOf } from "./order.ts";

export interface ChaosJob {
  readonly url: string;
  readonly schema: string;
  readonly ledger: string;
  readonly flows: number;
  readonly workers: number;
  /** Which of the workers it is. */
  readonly place: number;
  /** Flows whose start was acknowledged to an earlier process, by number. */
  readonly started: readonly number[];
}

/** `went`: a look at what waits came to its end, everything there was answered, and some session is held here. */
export type ChaosLine =
  | { readonly ready: true }
  | { readonly started: number }
  | { readonly went: true };

const leaseMs = 2_000;
/** Somebody who says that a call did not run has looked for so long: by then its process has stopped, or its lease is over. */
const lookMs = 2 * leaseMs;
/** Sessions for each worker; one takes a few more, so that a dead one's lapse into several hands. */
const [sessionsEach, sessionsMax] = [2, 3];
/** Runs of a session that are open at a time: whoever takes it over has to get through them before it is killed. */
const openMax = 8;
const [answeredAtOnce, pauseMs, connectionsMax] = [8, 50, 4];

const say = (line: ChaosLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
process.stdin.on("end", () => process.exit(0));
const told = once(createInterface({ input: process.stdin }), "line");
say({ ready: true });
const job = JSON.parse(String((await told)[0])) as ChaosJob;

const sessions = job.workers * sessionsEach;
// Each session has people of its own, wherever it is held.
const ofPlace = Array.from({ length: sessionsEach }, (_, at) => `s${job.place + at * job.workers}`);
const ledger = new Ledger<Effect>(job.ledger);
const { definition, pay } = orders(ledger);
const by = await verified("dana");
const started = new Set(job.started);

/** Does something until the database lets it. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error)) throw error;
      await setTimeout(50);
    }
  }
}

/** What is nobody's fault here: a database that restarts, a session that another process has, a run that moved on. */
function isAway(error: unknown): boolean {
  const code = (error as { readonly code?: unknown }).code;
  const expected = ["store-unavailable", "commit-unknown", "session-owned", "lease-lost"];
  const moved = ["run-moved", "status-wrong", "answer-unknown", "revision-conflict", "in-doubt"];
  const late = ["approval-already-decided", "aborted", "not-active"];
  return [...expected, ...moved, ...late].includes(String(code));
}

// Every restart of the server costs each connection that there was: a few are enough.
const pool = new Pool({ connectionString: job.url, max: connectionsMax });
pool.on("error", () => undefined);
const store = await insist(() => openPostgres(pool, { schema: job.schema }));

/** A supervisor whose activation failed has been shut down: the next try is another one's. */
async function activated(): Promise<Supervisor> {
  const fresh = new Supervisor({
    store,
    definitions: [definition],
    keyring,
    sessions: { match: () => true, max: sessionsMax },
    leaseMs,
    pollMs: 300,
    workers: 8,
    logger: { warn: () => undefined, error: () => undefined },
  });
  await fresh.activate();
  return fresh;
}

const desk = await insist(activated);

/** Approvals that were decided here: what was acknowledged stands, and nobody says it twice. */
const decided = new Set<string>();

/** What people say about a run: those of its session decide, and its owner hears what became of a call in doubt. */
async function answer({ runId, session, updatedAt, waitsFor }: RunView): Promise<void> {
  for (const { kind, id, approvalId } of waitsFor) {
    if (approvalId !== undefined && ofPlace.includes(String(session))) await decide(approvalId);
    if (kind === "in-doubt") await resolve({ runId, id, since: updatedAt });
  }
}

async function decide(approvalId: string): Promise<void> {
  if (decided.has(approvalId)) return;
  await desk.decide(approvalId, approve({ by }));
  decided.add(approvalId);
}

/** Whoever knows what became of a payment looks for it outside, and says so. */
async function resolve(doubt: { runId: string; id: string; since: number }): Promise<void> {
  const { runId, id, since } = doubt;
  const ran = ledger.of(runId).find(({ tool }) => tool === "pay");
  if (ran === undefined && Date.now() - since < lookMs) return;
  const said =
    ran === undefined
      ? inDoubt.didNotRun({ by })
      : inDoubt.ran(pay, refOf("pay", JSON.parse(ran.args)), { by });
  await desk.answerDoubt(runId, id, said);
}

async function quietly(work: () => Promise<unknown>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!isAway(error)) throw error;
  });
}

/** Sessions that are held here; the others are stood by for. */
function held(): readonly string[] {
  const { sessions } = desk.ready();
  return sessions.filter(({ status }) => status === "held").map(({ session }) => session);
}

async function start(number: number, session: string): Promise<void> {
  const order = `o${number}`;
  await desk.start("order", { order }, { key: order, session });
  started.add(number);
  say({ started: number });
}

/** Starts the next flows of a session that is held here, as many as may be open. */
async function startSome(session: string, waiting: number): Promise<void> {
  const atWork = await Promise.all([open("pending", session), open("running", session)]);
  const free = openMax - waiting - atWork.flat().length;
  const next: number[] = [];
  for (let number = Number(session.slice(1)); number < job.flows; number += sessions) {
    if (next.length >= free) break;
    if (!started.has(number)) next.push(number);
  }
  await Promise.all(next.map((number) => quietly(() => start(number, session))));
}

/** A session that nobody holds yet is taken by whoever starts something in it. */
async function takeSessions(): Promise<void> {
  for (const session of ofPlace) {
    const first = Number(session.slice(1));
    if (first < job.flows && !started.has(first)) await quietly(() => start(first, session));
  }
}

/** One look at a session: everything that waits there is answered, and more is begun. */
async function look(session: string, isHeld: boolean): Promise<void> {
  const items = await open("interrupted", session);
  for (let at = 0; at < items.length; at += answeredAtOnce)
    await Promise.all(
      items.slice(at, at + answeredAtOnce).map((view) => quietly(() => answer(view))),
    );
  if (isHeld && items.length < openMax) await startSome(session, items.length);
}

async function open(status: RunStatus, session: string): Promise<readonly RunView[]> {
  const filter = { status, session };
  return (await desk.list({ filter, order: "oldest", limit: openMax })).items;
}

await takeSessions();
for (;;) {
  await quietly(async () => {
    const mine = new Set(held());
    const looked = [...new Set([...ofPlace, ...mine])];
    await Promise.all(looked.map((session) => look(session, mine.has(session))));
    if (mine.size > 0) say({ went: true });
  });
  await setTimeout(pauseMs);
}
