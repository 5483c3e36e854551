import type { ActorRef, ApprovalStore, Clock, DeferredApproval } from "@holdpoint/approvals";
import type { FlowRunner, FlowRunnerOptions, Logger, RunLog } from "@holdpoint/flow";
import type { Sealer } from "@holdpoint/seal";

import type { Definitions } from "../definition/versions.ts";
import type { DeliveryCodec } from "../outbox/delivery.ts";
import type { RunAccess } from "../registry/access.ts";
import type { RunRegistry } from "../registry/store.ts";
import type { FaultBook } from "./fault-book.ts";
import type { Filings } from "./filings.ts";
import type { Lanes } from "./lanes.ts";
import type { Slots } from "./slots.ts";

/** Where everything of a workflow's runs is kept. Stores with one `home` commit together. */
export interface WorkflowStore {
  readonly approvals: ApprovalStore;
  readonly log: RunLog;
  readonly runs: RunRegistry;
}

/** What the parts of a facade share. */
export interface Parts {
  readonly definitions: Definitions;
  readonly access: RunAccess;
  readonly log: RunLog;
  readonly approvals: DeferredApproval;
  readonly filings: Filings;
  readonly lanes: Lanes;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly sealer: Sealer;
  readonly logger: Logger;
  readonly session: string | undefined;
  readonly faults: FaultBook;
  readonly slots: Slots;
  /** Makes what is told of moves; undefined where nobody is to be told. */
  readonly deliveries: DeliveryCodec | undefined;
  /** Makes a runner over the same stores and keys, with what its owner adds. */
  readonly runner: (own: RunnerParts) => FlowRunner;
}

/** What the owner of a run gives its runner. */
export type RunnerParts = Pick<FlowRunnerOptions, "alongside"> & {
  readonly log: RunLog;
};

/** How somebody cancels. */
export interface CancelHow {
  /** For people; up to 512 characters are kept. */
  readonly reason: string;
  readonly by?: ActorRef;
}
