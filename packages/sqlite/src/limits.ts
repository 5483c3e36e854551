/** Bounds of everything that grows or waits, each with its reason. */
export const limits = {
  /**
   * How long SQLite itself waits for a lock, milliseconds. It blocks the event loop meanwhile, so it only bridges the commit
   * of a neighbour; longer waits are awaited. Never above 50: a heartbeat beside it has to be heard.
   */
  busyTimeoutMs: 25,
  /** First and longest pause between two tries for a lock, before jitter. */
  pauseMsFirst: 4,
  pauseMsMax: 100,
  /** When a caller is told that the file is locked: longer than a backup or a migration, shorter than a person's patience. */
  lockWaitMsDefault: 15_000,
  /** How often a waiting reader looks whether another process has committed; one look reads one number. */
  pollMs: 25,
  /** Tries to switch a new file to WAL while others open it; each waits `openTimeoutMs` at most. */
  openTriesMax: 20,
  /** How long opening may block for another process that is just making or migrating the file. */
  openTimeoutMs: 5_000,
  /** Commits that share a transaction: together they hold the thread for some milliseconds. */
  commitsTogetherMax: 32,
  /** Rows changed by one commit; as every store. */
  writesMax: 10_000,
  /** Rows taken out at once; as every store. */
  removedMax: 1_000,
  /** Characters of an id, and of a key, which may join two ids and a number; as every store. */
  idCharactersMax: 200,
  keyCharactersMax: 500,
} as const;
