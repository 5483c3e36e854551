import {
  type ApprovalPort,
  type Clock,
  type Ids,
  systemClock,
  systemIds,
} from "@holdpoint/approvals";
import { digest } from "@holdpoint/seal";

import type { ToolListener } from "./events.ts";
import type { Guard } from "./guard.ts";
import type { Digester } from "./input.ts";
import type { Ledger } from "./ledger.ts";
import type { AnyTool } from "./tool.ts";

/** What an executor stands on; all of it optional. */
export interface ExecutorOptions {
  /** The way to a person. Without one, a call that `confirm` holds fails with `no-approver`. */
  readonly approvals?: ApprovalPort;
  /** Asked in this order; the first refusal stands. */
  readonly guards?: readonly Guard[];
  readonly ledger?: Ledger;
  readonly listeners?: readonly ToolListener[];
  /**
   * Whether a tool may run here: asked at the start of a call and again at its dispatch
   * (`tool-withdrawn`).
   */
  readonly offers?: (tool: AnyTool) => boolean;
  /** For arguments with registered classes: a sealer that knows them. */
  readonly sealer?: Digester;
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/** The options with every default in place. */
export interface Ports {
  readonly approvals: ApprovalPort | undefined;
  readonly guards: readonly Guard[];
  readonly ledger: Ledger | undefined;
  readonly listeners: Set<ToolListener>;
  readonly offers: ((tool: AnyTool) => boolean) | undefined;
  readonly sealer: Digester;
  readonly clock: Clock;
  readonly ids: Ids;
}

export function portsFrom(options: ExecutorOptions): Ports {
  return {
    approvals: options.approvals,
    guards: [...(options.guards ?? [])],
    ledger: options.ledger,
    listeners: new Set(options.listeners),
    offers: options.offers,
    sealer: options.sealer ?? { digest },
    clock: options.clock ?? systemClock,
    ids: options.ids ?? systemIds,
  };
}
