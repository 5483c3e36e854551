import type { ErrorInfo } from "@holdpoint/tools";

import type { NodeContext } from "../run/context.ts";
import type { NodeOptions } from "./node.ts";

/** What every map may be given. `retry` and `timeoutMs` hold for each item. */
export interface MapOptions extends NodeOptions {
  /** Items side by side, 1 or more; by default as many as the run has visits side by side. */
  readonly concurrency?: number;
  /**
   * What a failed or denied item is to the others, which all settle first in either case: the map fails with the failure of
   * the lowest index (`fail`, the default), or goes on, with the failure in its place (`skip`).
   */
  readonly onError?: "fail" | "skip";
  /** Begins no further item once one waits for a person; by default the others run meanwhile. */
  readonly stopOnPause?: boolean;
}

/** How one item ended. */
export type ItemResult<O> =
  | { readonly ok: true; readonly value: O }
  | { readonly ok: false; readonly reason: "denied" | "failed"; readonly error: ErrorInfo };

/** What a map gives to `into`. */
export interface MapResults<O> {
  /** One for each item, by its index. */
  readonly items: readonly ItemResult<O>[];
  /** The values of the items that finished, in order. */
  readonly values: readonly O[];
}

/** What an item's code gets. */
export interface ItemContext extends NodeContext {
  /** The item's place in the list, from 0. */
  readonly index: number;
}
