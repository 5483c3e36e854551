/** Bounds of everything that grows or waits, each with its reason. */
export const limits = {
  /** Connections of a store's own pool: more only queue at the database. */
  connectionsDefault: 10,
  /** How long a connection of a store's own pool may take to be made, milliseconds. */
  connectMs: 10_000,
  /** How long a statement may take, locks included: longer than any here needs, shorter than a person's patience. */
  statementMsDefault: 15_000,
  /** What the server's own limit is given to answer in, before its silence counts as a lost connection. */
  graceMs: 2_000,
  /** Opening may wait for another process that is just making or migrating the schema. */
  migrateMs: 60_000,
  /** Tries of a commit that meets others in a deadlock or is not serializable; each loses to one that goes on. */
  conflictsMax: 20,
  /** First and longest pause between two such tries, before jitter. */
  pauseMsFirst: 4,
  pauseMsMax: 200,
  /** How often one who waits looks for changes where nothing announces them; one look reads one index entry a scope. */
  pollMs: 100,
  /** How often where they are announced: an announcement is lost with the process that would have made it. */
  netMs: 1_000,
  /** Writes that are one statement; longer lists are one transaction of a statement each. */
  statementWritesMax: 12,
  /** Characters of a schema's name: Postgres cuts names off at 63 bytes, and a channel is called after it. */
  schemaCharactersMax: 48,
  /** Rows changed by one commit; as every store. */
  writesMax: 10_000,
  /** Rows taken out at once; as every store. */
  removedMax: 1_000,
  /** Characters of an id, and of a key, which may join two ids and a number; as every store. */
  idCharactersMax: 200,
  keyCharactersMax: 500,
} as const;
