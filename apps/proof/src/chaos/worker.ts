/**
 * One process in the chaos: a supervisor that starts what is to be done in the sessions that it holds, and the people, who
 * answer whatever waits. Killed at any moment; whoever comes next goes on. Says each thing by a line.
 */
import { setTimeout } from "node:timers/promises";

import { approve } from "@holdpoint/approvals";
import { inDoubt } from "@holdpoint/flow";
import { openPostgres } from "@holdpoint/postgres";
import { verified } from "@holdpoint/testing";
import { Supervisor, type RunView } from "@holdpoint/workflows";

import { Ledger, type Effect } from "../kill/ledger.ts";
import { keyring, orders, refOf } from "./order.ts";

export interface ChaosJob {
  readonly url: string;
  readonly schema: string;
  readonly ledger: string;
  readonly flows: number;
  readonly sessions: number;
  /** Flows whose start was acknowledged to an earlier process, by number. */
  readonly started: readonly number[];
}

/** `went`: a look at what waits came to its end, everything there was answered, and some session is held here. */
export type ChaosLine = { readonly started: number } | { readonly went: true };

const leaseMs = 4_000;
/** Somebody who says that a call did not run has looked for so long: by then its process has stopped, or its lease is over. */
const lookMs = 2 * leaseMs;
/** Runs that wait or run at a time: more would only make lists longer. */
const openMax = 60;
const [startedAtOnce, answeredAtOnce] = [4, 8];

const job = JSON.parse(process.argv[2] ?? "{}") as ChaosJob;
const say = (line: ChaosLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
process.stdin.on("end", () => process.exit(0)).resume();

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

const store = await insist(() => openPostgres(job.url, { schema: job.schema }));

/** A supervisor whose activation failed has been shut down: the next try is another one's. */
async function activated(): Promise<Supervisor> {
  const fresh = new Supervisor({
    store,
    definitions: [definition],
    keyring,
    sessions: { match: () => true, max: job.sessions },
    leaseMs,
    pollMs: 300,
    workers: 8,
    logger: { warn: () => undefined, error: () => undefined },
  });
  await fresh.activate();
  return fresh;
}

const desk = await insist(activated);

async function answer({ runId, updatedAt, waitsFor }: RunView): Promise<void> {
  for (const { kind, id, approvalId } of waitsFor) {
    if (approvalId !== undefined) await desk.decide(approvalId, approve({ by }));
    if (kind === "in-doubt") await resolve({ runId, id, since: updatedAt });
  }
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

/** Starts the next flows of each session that is held here, some at a time. */
async function startSome(): Promise<void> {
  for (const session of held()) {
    const next: number[] = [];
    for (let number = Number(session.slice(1)); number < job.flows; number += job.sessions) {
      if (!started.has(number)) next.push(number);
      if (next.length === startedAtOnce) break;
    }
    await Promise.all(next.map((number) => quietly(() => start(number, session))));
  }
}

/** A session that nobody holds yet is taken by whoever starts something in it. */
async function takeSession(): Promise<void> {
  const mine = new Set(held());
  for (let own = 0; own < Math.min(job.sessions, job.flows); own += 1) {
    const session = `s${own}`;
    if (!mine.has(session) && !started.has(own)) await quietly(() => start(own, session));
  }
}

await takeSession();
for (;;) {
  await quietly(async () => {
    const { items } = await desk.list({
      filter: { status: "interrupted" },
      order: "oldest",
      limit: openMax,
    });
    for (let at = 0; at < items.length; at += answeredAtOnce)
      await Promise.all(
        items.slice(at, at + answeredAtOnce).map((view) => quietly(() => answer(view))),
      );
    if (items.length < openMax) await startSome();
    if (held().length > 0) say({ went: true });
  });
  await setTimeout(20);
}
