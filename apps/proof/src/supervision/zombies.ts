/**
 * Two processes share sessions; one is stopped past its lease, the other takes over, the first is woken: round after round,
 * each the zombie in turn. Their own clocks stand still, so nothing but the fences in the store refuses what a zombie writes.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";

import { openSqlite, type SqliteStore } from "@holdpoint/sqlite";

import type { Order, Said } from "./order.ts";
import { supervising, until } from "./process.ts";

export interface Zombies {
  /** Sessions that were taken from a stopped owner: each of them a zombie when it was woken. */
  readonly zombies: number;
  /** What owners wrote, and the store took. */
  readonly accepted: number;
  /** What was refused because another owner stood. */
  readonly refused: number;
  /** Writes that were begun after a newer owner had taken the session, and were taken: there may be none. */
  readonly stale: readonly Said[];
}

/** A busy machine keeps a process waiting for hundreds of milliseconds: a shorter lease is lost without anybody being stopped. */
const leaseMs = 1_000;
const pollMs = 50;

/** When somebody took a session, by the machine's time, no later than this. */
interface Taken {
  readonly session: string;
  readonly epoch: number;
  readonly at: number;
}

/** Goes on until there were `wanted` zombies. */
export async function zombies(
  folder: string,
  { wanted, sessions: count }: { readonly wanted: number; readonly sessions: number },
): Promise<Zombies> {
  const sessions = Array.from({ length: count }, (_, at) => `desk-${at}`);
  const file = join(folder, "desk.db");
  const order = (name: string): Order => ({
    place: { kind: "sqlite", file },
    effectsFile: join(folder, "effects"),
    saidFile: join(folder, name),
    sessions,
    startIn: [],
    runs: 0,
    workers: 8,
    leaseMs,
    pollMs,
    stepMs: 10,
    storms: true,
    clocks: "stand",
  });
  const store = openSqlite(file);
  const one = supervising(order("one"));
  await until("the first process", 60_000, () => one.said().length > count);
  const two = supervising(order("two"));
  await until("the second process", 60_000, () => two.said().length > 0);
  const taken: Taken[] = [];
  let made = 0;
  try {
    for (let round = 0; made < wanted && round < 4 * wanted; round += 1) {
      const [stopped, other] = round % 2 === 0 ? [one, two] : [two, one];
      await stopBetweenWrites(stopped, file);
      const held = heldBy(stopped.said(), await epochsOf(store));
      await until("the other owner", 60_000, async () => {
        const now = await epochsOf(store);
        return [...held].every(([session, epoch]) => (now.get(session) ?? 0) > epoch);
      });
      for (const [session, epoch] of await epochsOf(store)) {
        taken.push({ session, epoch, at: Date.now() });
      }
      made += held.size;
      const before = [stopped.said().length, other.said().length];
      stopped.wake();
      await until("both", 60_000, () =>
        [stopped, other].every((each, at) => each.said().length > before[at]! + count),
      );
    }
  } finally {
    await Promise.all([one.kill(), two.kill()]);
    store.close();
  }
  return { zombies: made, ...judged([...one.said(), ...two.said()], taken) };
}

/** One that stops inside a transaction keeps the file's lock, and nobody writes until it is woken: it is stopped elsewhere. */
async function stopBetweenWrites(
  process: ReturnType<typeof supervising>,
  file: string,
): Promise<void> {
  const handle = new DatabaseSync(file, { timeout: 20 });
  const isLocked = (): boolean => {
    try {
      handle.exec("BEGIN IMMEDIATE; ROLLBACK");
      return false;
    } catch {
      return true;
    }
  };
  for (process.stop(); isLocked(); process.stop()) {
    process.wake();
    await setTimeout(3);
  }
  handle.close();
}

async function epochsOf(store: SqliteStore): Promise<ReadonlyMap<string, number>> {
  const rows = await store.leases.list("default", { limit: 500 });
  return new Map(rows.map(({ key, values }) => [key, Number(values["epoch"])]));
}

/** The sessions that a process wrote in under the newest epoch. */
function heldBy(
  said: readonly Said[],
  epochs: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const own = said.filter((each) => each.kind !== "up").filter(({ kind }) => kind === "accepted");
  return new Map(
    [...epochs].filter(([session, epoch]) =>
      own.some((write) => write.session === session && write.epoch === epoch),
    ),
  );
}

function judged(said: readonly Said[], taken: readonly Taken[]): Omit<Zombies, "zombies"> {
  const writes = said.filter((each) => each.kind !== "up");
  const accepted = writes.filter(({ kind }) => kind === "accepted");
  const owned = new Set(["session-owned", "lease-lost"]);
  const refused = writes.filter(({ code }) => code !== undefined && owned.has(code));
  const stale = accepted.filter((write) =>
    taken.some(
      ({ session, epoch, at }) =>
        session === write.session && epoch > write.epoch && at <= write.since,
    ),
  );
  return { accepted: accepted.length, refused: refused.length, stale };
}
