/**
 * Flows go on while their database restarts and their processes are killed (P8). The chaos ends when every flow has been started
 * and none is open any more; how fast the machine is has no part in what is found.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { openPostgres, type PostgresStore } from "@holdpoint/postgres";

import { bundled, folderFor } from "../child-process.ts";
import type { Server, StartServer } from "../server.ts";
import { Chance } from "../simulator/chance.ts";
import { audited, type Audited } from "./audit.ts";
import { Fleet } from "./fleet.ts";
import { openRuns, standsStill } from "./open-runs.ts";
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
  /** From the first process to the last flow's end, without what is looked at afterwards. */
  readonly seconds: number;
}

const schema = "chaos";

export async function chaos(how: ChaosHow, startServer: StartServer): Promise<Chaos> {
  const folder = folderFor("chaos");
  const server = await startServer();
  const store = await openPostgres(server.url, { schema }); // brought up in peace
  const world = new World(how, server, folder);
  try {
    const began = performance.now();
    const stood = await world.run(store);
    const seconds = (performance.now() - began) / 1_000;
    await world.end();
    const found = await audited(store, { ledger: world.ledger, flows: how.flows });
    const faults = [...stood, ...found.faults];
    return { ...found, faults, restarts: world.restarts, kills: world.kills, seconds };
  } finally {
    await world.end();
    await store.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

class World {
  restarts = 0;
  readonly ledger: string;
  readonly #how: ChaosHow;
  readonly #server: Server;
  readonly #chance: Chance;
  readonly #fleet: Fleet;
  readonly #started = new Set<number>();
  #isOver = false;
  /** Whether anybody has got through a look at the runs since the last restart. */
  #goesOn = false;

  constructor(how: ChaosHow, server: Server, folder: string) {
    this.#how = how;
    this.#server = server;
    this.ledger = join(folder, "ledger");
    this.#chance = new Chance(how.seed);
    this.#fleet = new Fleet({
      program: bundled(join(import.meta.dirname, "worker.ts"), folder),
      folder,
      places: how.workers,
      job: (place) => this.#job(place),
      heard: (line) => this.#heard(line),
    });
  }

  get kills(): number {
    return this.#fleet.kills;
  }

  /** Resolves when all flows have ended, or nothing moves any more: then with what stands open. */
  async run(store: PostgresStore): Promise<readonly string[]> {
    const trouble = Promise.all([this.#restarting(), this.#killing()]);
    try {
      return await this.#allEnded(store);
    } finally {
      this.#isOver = true;
      await trouble;
    }
  }

  end(): Promise<void> {
    return this.#fleet.end();
  }

  #job(place: number): ChaosJob {
    const { flows, workers } = this.#how;
    const { url } = this.#server;
    const { ledger } = this;
    return { url, schema, ledger, flows, workers, place, started: [...this.#started] };
  }

  #heard(line: ChaosLine): void {
    if ("started" in line) this.#started.add(line.started);
    if ("went" in line) this.#goesOn = true;
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

  /** Every 0.5 to 2 s. */
  async #killing(): Promise<void> {
    while (!this.#isOver && this.kills < (this.#how.troubleMax ?? Infinity)) {
      await setTimeout(500 + this.#chance.below(1_500));
      await this.#fleet.kill(this.#chance);
    }
  }

  async #allEnded(store: PostgresStore): Promise<readonly string[]> {
    const { flows, restartsMin, killsMin, progress } = this.#how;
    let tenths = 0;
    for (;;) {
      await setTimeout(200);
      if (this.#fleet.fault !== undefined) throw new Error(this.#fleet.fault);
      const tenth = Math.floor((10 * this.#started.size) / flows);
      if (tenth > tenths) {
        tenths = tenth;
        progress(`${this.#started.size} started, ${this.restarts} restarts, ${this.kills} kills`);
      }
      const enough = this.restarts >= restartsMin && this.kills >= killsMin;
      const isLast = this.#started.size === flows && enough;
      if (isLast && (await openRuns(store, 1))?.length === 0) return [];
      const still = await standsStill(store);
      if (still !== undefined) return still;
    }
  }
}
