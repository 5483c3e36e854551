/**
 * What a command works on: the store and what the config gives, each opened when it is first asked for, so that a command takes
 * no more than it needs, and says which of it is missing.
 */
import {
  DeferredApproval,
  systemClock,
  type Actor,
  type Clock,
  type SealedRecords,
} from "@holdpoint/approvals";
import { createSealer, type Keyring } from "@holdpoint/seal";
import { Retention, Supervisor, Workflows, type Workflow } from "@holdpoint/workflows";

import type { Config } from "./config.ts";
import { CliError } from "./errors.ts";
import { openPlace, type Place } from "./place.ts";

export interface DeskOptions {
  readonly config: Config;
  /** Where relative paths begin. */
  readonly folder: string;
  /** Of the command line: they win over the config. */
  readonly store?: string | undefined;
  readonly scope?: string | undefined;
  readonly clock?: Clock;
}

export class Desk {
  readonly folder: string;
  readonly scope: string;
  readonly clock: Clock;
  readonly #config: Config;
  readonly #where: string | undefined;
  #place: Promise<Place> | undefined;
  #supervisors: Supervisor[] = [];

  constructor({ config, folder, store, scope, clock = systemClock }: DeskOptions) {
    this.folder = folder;
    this.clock = clock;
    this.scope = scope ?? config.scope ?? "default";
    this.#config = config;
    this.#where = store ?? config.store;
  }

  /** @throws CliError `config-lacks`, `store-unusable` */
  place(): Promise<Place> {
    if (this.#where === undefined)
      throw lacking("store", "say where it is: --store FILE or --store postgres://…");
    return (this.#place ??= openPlace(this.folder, this.#where, this.#config.schema));
  }

  get hasKeyring(): boolean {
    return this.#config.keyring !== undefined;
  }

  get keyring(): Keyring {
    const { keyring } = this.#config;
    return (
      keyring ?? raise(lacking("keyring", "nothing can be believed without the key that sealed it"))
    );
  }

  get hasDefinitions(): boolean {
    return this.#config.definitions !== undefined;
  }

  get definitions(): readonly Workflow[] {
    const { definitions } = this.#config;
    return (
      definitions ?? raise(lacking("definitions", "the workflows whose runs are in the store"))
    );
  }

  /** @throws CliError `config-lacks` */
  async person(): Promise<Actor> {
    const { identity } = this.#config;
    if (identity === undefined) throw lacking("identity", "somebody has to answer for a decision");
    return identity();
  }

  /** @throws CliError `config-lacks`, `store-unusable` */
  async records(): Promise<SealedRecords> {
    const { keyring } = this;
    const { store } = await this.place();
    const { edits, models = [], codecs = [] } = this.#config;
    const sealer = createSealer({ models, codecs });
    return new DeferredApproval(store.approvals, { keyring, sealer, ...(edits && { edits }) })
      .records;
  }

  /** For reading: no definition has to be known for that. */
  async runs(
    definitions: readonly Workflow[] = this.#config.definitions ?? [],
  ): Promise<Workflows> {
    const { keyring, scope } = this;
    const { store } = await this.place();
    return new Workflows({ store, keyring, scope, definitions, ...this.#more() });
  }

  async retention(): Promise<Retention> {
    const { keyring, scope } = this;
    const { store, removal } = await this.place();
    return new Retention({ store, removal, keyring, scope });
  }

  /** One that holds no session: it reads, decides, and wishes. */
  async bystander(): Promise<Supervisor> {
    return this.#supervising({ sessions: { match: () => false, max: 1 } });
  }

  /** One that owns a session, or is refused it; what nobody works on stays so, but for what it is told to take up. */
  async owner(session: string): Promise<Supervisor> {
    return this.#supervising({ session, exclusive: true, adopt: "manual" });
  }

  async #supervising(
    how: Pick<
      ConstructorParameters<typeof Supervisor>[0],
      "session" | "sessions" | "exclusive" | "adopt"
    >,
  ): Promise<Supervisor> {
    const { keyring, scope } = this;
    const { store } = await this.place();
    const { definitions = [] } = this.#config;
    const supervisor = new Supervisor({
      store,
      keyring,
      scope,
      definitions,
      ...this.#more(),
      ...how,
    });
    this.#supervisors.push(supervisor);
    await supervisor.activate();
    return supervisor;
  }

  #more() {
    const { edits, models = [], codecs = [] } = this.#config;
    return { models, codecs, ...(edits && { edits }) };
  }

  async close(): Promise<void> {
    for (const supervisor of this.#supervisors) await supervisor.shutdown();
    await (await this.#place)?.close();
  }
}

function lacking(needs: keyof Config, why: string): CliError {
  const message = `this command needs '${needs}', which the config does not export: ${why}`;
  return new CliError("config-lacks", message, { needs });
}

function raise(error: CliError): never {
  throw error;
}
