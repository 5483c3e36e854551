// The whole store
export { openPostgres, type PostgresStore } from "./open.ts";
export type { PostgresOptions } from "./homes.ts";

// One port each, on a pool of the caller's own
export { postgresApprovalStore } from "./approvals.ts";
export { postgresLeaseStore } from "./leases.ts";
export { postgresOutbox } from "./outbox.ts";
export { postgresRunLog } from "./log.ts";
export { postgresRunRegistry } from "./runs.ts";
export type {
  PostgresClient,
  PostgresPool,
  PostgresQuery,
  PostgresResult,
  PostgresValue,
} from "./pool.ts";

// Errors and limits
export {
  isPostgresError,
  PostgresStoreError,
  type PostgresErrorCode,
  type PostgresErrorFields,
  type UnavailableReason,
} from "./errors.ts";
export { limits } from "./limits.ts";
