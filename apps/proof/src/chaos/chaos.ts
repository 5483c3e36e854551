/**
 * Flows go on while their database restarts and their processes are killed (P8). The chaos ends when every flow has been started
 * and none is open any more; how fast the machine is has no part in what is found.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { openPostgres, type PostgresStore } from "@holdpoint/postgres";

import { bundled } from "../child-process.ts";
import type { Server, StartServer } from "../server.ts";
import { Chance } from "../simulator/chance.ts";
import { audited, type Audited } from "./audit.ts";
import type { ChaosJob, ChaosLine } from "./worker.ts";

export interface ChaosHow {
  readonly flows: number;
  readonly workers: number;
  /** The least of each, however soon the flows have ended. */
  readonly restartsMin: number;
  readonly killsMin: number;
  /** Of each, after which there is peace; absent: until the flows have ended. */
  readonly troubleMax?: number;
  readonly seed: number;
  readonly progress: (line: string) => void;
}

export interface Chaos extends Audited {
  readonly restarts: number;
  readonly kills: number;
}

const schema = "chaos";

export async function chaos(how: ChaosHow, startServer: StartServer): Promise<Chaos> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-chaos-"));
  const server = await startServer();
  const store = await openPostgres(server.url, { schema }); // brought up in peace
  const world = new World(how, server, folder);
  try {
    await world.run(store);
    return { ...(await audited(store, world.job)), restarts: world.restarts, kills: world.kills };
  } finally {
    await world.end();
    await store.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Worker {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  works: boolean;
}

class World {
  restarts = 0;
  kills = 0;
  readonly #how: ChaosHow;
  readonly #server: Server;
  readonly #chance: Chance;
  readonly #folder: string;
  readonly #program: string;
  readonly #started = new Set<number>();
  readonly #workers: Worker[] = [];
  /** What a process ended with that nobody had ended. */
  #fault: string | undefined;
  #isOver = false;
  /** Whether anybody has got through a look at the runs since the last restart. */
  #goesOn = false;

  constructor(how: ChaosHow, server: Server, folder: string) {
    this.#how = how;
    this.#server = server;
    this.#folder = folder;
    this.#program = bundled(join(import.meta.dirname, "worker.ts"), folder);
    this.#chance = new Chance(how.seed);
  }

  get job(): ChaosJob {
    const { flows, workers } = this.#how;
    const { url } = this.#server;
    const sessions = workers * 2;
    const ledger = join(this.#folder, "ledger");
    return { url, schema, ledger, flows, sessions, started: [...this.#started] };
  }

  async run(store: PostgresStore): Promise<void> {
    for (let place = 0; place < this.#how.workers; place += 1) this.#boot(place);
    const trouble = Promise.all([this.#restarting(), this.#killing()]);
    try {
      await this.#allEnded(store);
    } finally {
      this.#isOver = true;
      await trouble;
    }
  }

  async end(): Promise<void> {
    for (const { child } of this.#workers) child.kill("SIGKILL");
    await Promise.all(this.#workers.map(({ exited }) => exited));
  }

  #boot(place: number): void {
    const child = spawn(process.execPath, [this.#program, JSON.stringify(this.job)], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, NODE_COMPILE_CACHE: join(this.#folder, "compiled") },
    });
    const worker: Worker = { child, exited: once(child, "exit"), works: false };
    let said = "";
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => void (errors += chunk.toString()));
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const lines = said.split("\n");
      said = lines.pop()!;
      for (const line of lines) this.#heard(worker, JSON.parse(line) as ChaosLine);
    });
    child.once("exit", (code, signal) => {
      if (signal !== "SIGKILL") this.#fault ??= `a process ended by itself, ${code}: ${errors}`;
    });
    this.#workers[place] = worker;
  }

  #heard(worker: Worker, line: ChaosLine): void {
    if ("started" in line) this.#started.add(line.started);
    if (!("went" in line)) return;
    worker.works = true;
    this.#goesOn = true;
  }

  /** Every 1 to 3 s; on a machine where nothing gets done in that time, once something was. */
  async #restarting(): Promise<void> {
    while (!this.#isOver && this.restarts < (this.#how.troubleMax ?? Infinity)) {
      await setTimeout(1_000 + this.#chance.below(2_000));
      if (!this.#goesOn) continue;
      this.#goesOn = false;
      await this.#server.crash();
      await this.#server.start();
      this.restarts += 1;
    }
  }

  /** Every 0.5 to 2 s, one of those that have worked: each process of a slow machine gets something done. */
  async #killing(): Promise<void> {
    while (!this.#isOver && this.kills < (this.#how.troubleMax ?? Infinity)) {
      await setTimeout(500 + this.#chance.below(1_500));
      const up = this.#workers.filter(({ works }) => works);
      if (up.length === 0) continue;
      const worker = this.#chance.pick(up);
      worker.child.kill("SIGKILL");
      await worker.exited;
      this.kills += 1;
      this.#boot(this.#workers.indexOf(worker));
    }
  }

  async #allEnded(store: PostgresStore): Promise<void> {
    const { flows, restartsMin, killsMin, progress } = this.#how;
    let tenths = 0;
    for (;;) {
      await setTimeout(200);
      if (this.#fault !== undefined) throw new Error(this.#fault);
      const tenth = Math.floor((10 * this.#started.size) / flows);
      if (tenth > tenths) {
        tenths = tenth;
        progress(`${this.#started.size} started, ${this.restarts} restarts, ${this.kills} kills`);
      }
      const enough = this.restarts >= restartsMin && this.kills >= killsMin;
      if (this.#started.size === flows && enough && (await isQuiet(store))) return;
    }
  }
}

/** Whether no run is open; a database that is away says nothing. */
async function isQuiet({ runs }: PostgresStore): Promise<boolean> {
  try {
    for (const status of ["pending", "running", "interrupted"] as const) {
      const rows = await runs.list("default", { status }, { order: "oldest", limit: 1 });
      if (rows.length > 0) return false;
    }
    return true;
  } catch {
    return false;
  }
}
