import type { EditPort, EditVerdict } from "@holdpoint/approvals";
import { editsOf, type AnyTool } from "@holdpoint/tools";

import { graphOf, type Flow } from "./flow.ts";
import type { GateSpec } from "./node.ts";

/**
 * The edit port of flows: payloads of their gates by the gates' own schemas, arguments by the tools of their call nodes and
 * by those given besides (what only a node's code calls). Flows within are read too. Give it to the approvals: without one edits are refused (APR-03).
 */
export function flowEdits(flows: readonly Flow[], tools: readonly AnyTool[] = []): EditPort {
  const gates = new Map<string, GateSpec>();
  const called: AnyTool[] = [...tools];
  for (const graph of new Set(flows.flatMap((flow) => [...graphOf(flow).flows]))) {
    for (const { spec } of graph.nodes.values()) {
      if (spec.kind === "gate") gates.set(`node:${graph.name}.${spec.name}`, spec);
      if (spec.kind === "call" || spec.kind === "map-call") called.push(spec.tool);
    }
  }
  const ofTools = editsOf(called);
  return {
    validate: (edit) =>
      edit.request.kind === "gate"
        ? validatePayload(gates.get(edit.request.tool), edit.request.tool, edit.arguments)
        : ofTools.validate(edit),
  };
}

/** What a person puts in place of a payload stays as it is: the gate reads it by its schema, once, when it is applied. */
function validatePayload(gate: GateSpec | undefined, name: string, edited: unknown): EditVerdict {
  if (gate?.edits === undefined)
    return { status: "invalid", issues: [`'${name}' takes no edits here`] };
  const read = gate.edits.schema.safeParse(edited);
  if (read.success) return { status: "valid", arguments: edited };
  const issues = read.error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.map(String).join(".")}: ${message}` : message,
  );
  return { status: "invalid", issues };
}
