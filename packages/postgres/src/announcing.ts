/**
 * Telling other processes of changes, and hearing of theirs, by LISTEN and NOTIFY.
 *
 * A1 An announcement only wakes: it follows its commit, by itself, and may be lost with its process. Inside the commit it would
 *    be certain, and would let no two commits of the whole server reach the disk at once: Postgres orders announcements by a lock
 *    that is held until then.
 * A2 One announcement is on its way at a time; what commits meanwhile goes along with the next.
 * A3 No announcement waits for the disk: it tells of what is there already, and beside each commit it would cost a sync of its
 *    own, in the way of the next commit's.
 * A4 A lost connection is told, and made again when somebody waits the next time or looks.
 */

import type { PostgresHome } from "./home.ts";
import type { PostgresClient } from "./pool.ts";

/** A connection to listen on, from when it is asked for. */
interface Line {
  client: PostgresClient | undefined;
  isListening: boolean;
}

export class Announcements {
  readonly #home: PostgresHome;
  readonly #channel: string;
  readonly #heard: (scope: string | undefined) => void;
  readonly #due = new Set<string>();
  #isTelling = false;
  #line: Line | undefined;

  /** `heard` is called with the scope of each announcement, and with none where all may have been missed. */
  constructor(home: PostgresHome, heard: (scope: string | undefined) => void) {
    this.#home = home;
    this.#channel = `${home.settings.schema}_changes`;
    this.#heard = heard;
  }

  get isListening(): boolean {
    return this.#line?.isListening === true;
  }

  /** Has other processes look at these scopes. */
  announce(scopes: readonly string[]): void {
    for (const scope of scopes) this.#due.add(scope);
    if (!this.#isTelling) void this.#tellAll();
  }

  /** Begins to listen, where nobody does. */
  listen(): void {
    if (this.#line !== undefined || !this.#home.settings.listens) return;
    const line: Line = { client: undefined, isListening: false };
    this.#line = line;
    this.#connect(line).catch(() => this.#drop(line));
  }

  /** Ends listening. */
  stop(): void {
    if (this.#line !== undefined) this.#drop(this.#line);
  }

  // A2
  async #tellAll(): Promise<void> {
    this.#isTelling = true;
    while (this.#due.size > 0) {
      const scopes = [...this.#due];
      this.#due.clear();
      // A3: the setting ends with the statement, which is its own transaction.
      const sql = `SELECT set_config('synchronous_commit', 'off', true), pg_notify(:channel, scope)
        FROM unnest(:scopes::text[]) AS scope`;
      // A1
      await this.#home.rows(sql, { channel: this.#channel, scopes }).catch(() => {});
    }
    this.#isTelling = false;
  }

  async #connect(line: Line): Promise<void> {
    const client = await this.#home.connect();
    line.client = client;
    if (this.#line !== line) return this.#drop(line);
    const lost = (): void => {
      if (this.#line !== line) return;
      this.#drop(line);
      this.#heard(undefined); // A4
    };
    client.on("error", lost);
    client.on("end", lost);
    client.on("notification", ({ channel, payload }) => {
      if (channel === this.#channel) this.#heard(payload);
    });
    await client.query({ text: `LISTEN "${this.#channel}"`, values: [] });
    if (this.#line !== line) return;
    line.isListening = true;
    this.#heard(undefined); // what was told before
  }

  #drop(line: Line): void {
    if (this.#line === line) this.#line = undefined;
    const { client } = line;
    line.client = undefined;
    // Closed rather than given back: whoever got it would hear what is told here.
    client?.release(new Error("it listened"));
  }
}
