// The whole store
export { openSqlite, type SqliteStore } from "./open.ts";
export type { SqliteOptions } from "./homes.ts";

// One port each, on a handle of the caller's own
export { sqliteApprovalStore } from "./approvals.ts";
export { sqliteLeaseStore } from "./leases.ts";
export { sqliteOutbox } from "./outbox.ts";
export { sqliteRunLog } from "./log.ts";
export { sqliteRunRegistry } from "./runs.ts";
export type { Binds, SqliteHandle, SqliteStatement } from "./handle.ts";

// Errors and limits
export {
  isSqliteError,
  SqliteStoreError,
  type SqliteErrorCode,
  type SqliteErrorFields,
  type UnavailableReason,
} from "./errors.ts";
export { limits } from "./limits.ts";
