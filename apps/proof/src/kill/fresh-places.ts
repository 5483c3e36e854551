/** Where a proof's processes work: each place is made for one chain of them, and taken away afterwards. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { Pool } from "pg";

import { clockSql, droppedSql, type Layout, type Place } from "./places.ts";

export interface Server {
  readonly url: string;
  readonly pool: Pool;
}

export function serverAt(url: string): Server {
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on("error", () => {}); // of a connection that nobody has: the pool makes another
  return { url, pool };
}

/** Places of one layout, each of which is nobody else's. */
export class FreshPlaces {
  readonly layout: Layout;
  readonly #folder: string;
  readonly #server: Server | undefined;
  #made = 0;

  constructor(folder: string, layout: Layout, server: Server | undefined) {
    this.layout = layout;
    this.#folder = folder;
    this.#server = server;
  }

  /** Whether a supervisor works there: its log, registry and leases have to be one store. */
  get supervised(): boolean {
    return this.layout !== "sqlite-apart";
  }

  async make(): Promise<Place> {
    const { layout } = this;
    const folder = mkdtempSync(join(this.#folder, `${layout}-`));
    if (layout === "sqlite" || layout === "sqlite-apart") return { folder, layout };
    if (this.#server === undefined) throw new Error(`there is no server for ${layout}`);
    const schema = `kill_${process.pid}_${layout}_${(this.#made += 1)}`;
    await this.#server.pool.query(clockSql(schema));
    return { folder, layout, postgres: { url: this.#server.url, schema } };
  }

  /** A place for one piece of work; gone when that ends. */
  async lend<T>(work: (place: Place) => Promise<T>): Promise<T> {
    const place = await this.make();
    try {
      return await work(place);
    } finally {
      await this.remove(place);
    }
  }

  async remove({ folder, postgres }: Place): Promise<void> {
    rmSync(folder, { recursive: true, force: true });
    if (postgres !== undefined) await this.#server?.pool.query(droppedSql(postgres.schema));
  }
}
