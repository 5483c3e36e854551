import { errorInfo, type ErrorInfo } from "@holdpoint/tools";

import { FlowError } from "../errors.ts";
import type { GraphNode } from "../graph/flow.ts";
import type { State } from "../graph/node.ts";
import type { VisitEnd } from "./event.ts";
import type { Place } from "./place.ts";

/** An update, field by field (FLOW-03). `undefined` removes an optional field. */
export function checkedUpdate({ graph, frame }: Place, path: string, value: unknown): State {
  if (value === undefined || value === null) return {};
  if (!isPlain(value)) {
    throw new FlowError(
      "update-invalid",
      `${path} returned something that is no update: an object with fields of the state, or nothing`,
      {
        node: path,
      },
    );
  }
  const update: State = {};
  for (const name of Object.keys(value))
    update[name] = graph.state.field(name, (value as State)[name], path, frame.state[name]);
  return update;
}

/** A map, a date or an instance has no fields of the state, whatever it holds. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** How a node's failure ends its visit. */
export function failed(node: GraphNode, error: unknown): VisitEnd {
  return failedWith(node, errorInfo(error));
}

export function failedWith(node: GraphNode, error: ErrorInfo): VisitEnd {
  return { ok: false, error, ...(node.failed !== undefined && { via: "failed" }) };
}
