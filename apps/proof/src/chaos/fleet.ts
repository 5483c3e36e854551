/**
 * The processes of a chaos: each place has one that works, and some stand ready beside them, with their program loaded, so that
 * whoever takes a killed one's place works at once. Without them a process that is killed every few seconds mostly starts.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import type { Chance } from "../simulator/chance.ts";
import type { ChaosJob, ChaosLine } from "./worker.ts";

/** Processes that stand ready: one to take a place while another begins. */
const spares = 2;

export interface FleetHow {
  readonly program: string;
  readonly folder: string;
  readonly places: number;
  /** What the process in a place has to know, as of now. */
  readonly job: (place: number) => ChaosJob;
  readonly heard: (line: ChaosLine) => void;
}

interface Worker {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  isReady: boolean;
  /** Whether it has got through a look. */
  works: boolean;
}

export class Fleet {
  kills = 0;
  /** What a process ended with that nobody had ended. */
  fault: string | undefined;
  readonly #how: FleetHow;
  readonly #working = new Map<number, Worker>();
  readonly #spares = new Set<Worker>();
  readonly #empty: number[];

  constructor(how: FleetHow) {
    this.#how = how;
    this.#empty = Array.from({ length: how.places }, (_, place) => place);
    for (let at = 0; at < how.places + spares; at += 1) this.#spawn();
  }

  /** Kills one of those that have worked, so that each process of a slow machine gets something done; whether there was one. */
  async kill(chance: Chance): Promise<boolean> {
    const up = [...this.#working].filter(([, { works }]) => works);
    if (up.length === 0) return false;
    const [place, worker] = chance.pick(up);
    this.#working.delete(place);
    worker.child.kill("SIGKILL");
    await worker.exited;
    this.kills += 1;
    this.#empty.push(place);
    this.#spawn();
    this.#fill();
    return true;
  }

  async end(): Promise<void> {
    const all = [...this.#working.values(), ...this.#spares];
    this.#empty.length = 0;
    for (const { child } of all) child.kill("SIGKILL");
    await Promise.all(all.map(({ exited }) => exited));
  }

  /** Gives each place that is empty to a process that stands ready. */
  #fill(): void {
    for (const worker of this.#spares) {
      const place = worker.isReady ? this.#empty.shift() : undefined;
      if (place === undefined) continue;
      this.#spares.delete(worker);
      this.#working.set(place, worker);
      worker.child.stdin?.write(`${JSON.stringify(this.#how.job(place))}\n`);
    }
  }

  #spawn(): void {
    const { program, folder } = this.#how;
    const child = spawn(process.execPath, [program], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") },
    });
    const worker = { child, exited: once(child, "exit"), isReady: false, works: false };
    this.#spares.add(worker);
    let said = "";
    let errors = "";
    child.stdin.on("error", () => undefined); // of one that was just killed
    child.stderr.on("data", (chunk: Buffer) => void (errors += chunk.toString()));
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const lines = said.split("\n");
      said = lines.pop()!;
      for (const line of lines) this.#heard(worker, JSON.parse(line) as ChaosLine);
    });
    child.once("exit", (code, signal) => {
      if (signal !== "SIGKILL") this.fault ??= `a process ended by itself, ${code}: ${errors}`;
    });
  }

  #heard(worker: Worker, line: ChaosLine): void {
    if ("ready" in line) {
      worker.isReady = true;
      return this.#fill();
    }
    if ("went" in line) worker.works = true;
    this.#how.heard(line);
  }
}
