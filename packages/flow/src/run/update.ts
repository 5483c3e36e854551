import { errorInfo } from "@holdpoint/tools";

import { FlowError } from "../errors.ts";
import type { GraphNode } from "../graph/flow.ts";
import type { State } from "../graph/node.ts";
import type { VisitEnd } from "./event.ts";
import type { LiveRun } from "./live.ts";

/** An update, field by field (FLOW-03). `undefined` removes an optional field. */
export function checkedUpdate(live: LiveRun, path: string, value: unknown): State {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new FlowError(
      "update-invalid",
      `${path} returned something that is no update: an object with fields of the state, or nothing`,
      {
        node: path,
      },
    );
  }
  const update: State = {};
  for (const [name, written] of Object.entries(value)) {
    update[name] = live.graph.state.field(name, written, path);
  }
  return Object.freeze(update);
}

/** How a node's failure ends its visit. */
export function failed(node: GraphNode, error: unknown): VisitEnd {
  const info = errorInfo(error);
  return { ok: false, error: info, ...(node.failed !== undefined && { via: "failed" }) };
}
