import type { ApprovalPort, Clock, Ids, Write } from "@holdpoint/approvals";
import type { Keyring, Sealer } from "@holdpoint/seal";
import type { Executor } from "@holdpoint/tools";

import type { Migration } from "../graph/migration.ts";
import type { RunEvent } from "./event.ts";
import type { RunLog } from "./log.ts";
import type { Rest } from "./rest.ts";
import type { Telling } from "./telling.ts";

/** What only an operator should see: structured, without arguments (FLOW-45). */
export interface Logger {
  warn(message: string, facts: Readonly<Record<string, unknown>>): void;
  error(message: string, facts: Readonly<Record<string, unknown>>): void;
}

/** A runner's options, resolved once. */
export interface Parts {
  readonly approvals: ApprovalPort | undefined;
  readonly executor: Executor;
  readonly keyring: Keyring;
  readonly sealer: Sealer;
  /** Whether what is encoded comes back by the codec's own rule alone: no classes or codecs of the user's. */
  readonly exact: boolean;
  readonly log: RunLog | undefined;
  readonly migrations: readonly Migration[];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly rest: Rest;
  readonly telling: Telling;
  /** Writes of the layer above that have to commit with an event: its registry's row, its owner's fence. */
  readonly alongside: ((event: RunEvent, runId: string) => readonly Write[]) | undefined;
}
