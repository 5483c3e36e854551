import { requestOf, type ApprovalRequest, type RequestFacts } from "@holdpoint/approvals";
import { digestText } from "@holdpoint/seal";
import type { CallIdentity } from "@holdpoint/tools";

import type { Identity, Made } from "./identity.ts";
import type { LiveRun } from "./live.ts";
import type { ApprovalWait } from "./wait.ts";

/** The id of a gate's question in one visit. */
function gateIdOf(runId: string, visit: string): string {
  return digestText(`gate\0${runId}\0${visit}`);
}

/** A call as the ids and keys made of it name it (FLOW-38, TOOL-08). */
export function callIdentity(runId: string, visit: string, id: Identity): CallIdentity {
  return { runId, node: visit, tool: id.name, key: id.key, number: id.number };
}

/** What waits, from the request that was asked. */
export function waitOf(
  request: ApprovalRequest,
  id: Made | undefined,
  { approvalId, recorded }: { readonly approvalId: string | undefined; readonly recorded: boolean },
): ApprovalWait {
  // Free context has no place here: no request of a run has any.
  const { kind, tool, scope, runId, node, callId, argumentKey, requestedBy, rule } = request;
  return {
    kind: "approval",
    id,
    callId,
    approvalId,
    facts: { kind, tool, scope, runId, node, callId, argumentKey, requestedBy, rule },
    arguments: { form: "value", value: request.arguments },
    argumentsDigest: request.argumentsDigest,
    requestedAt: request.requestedAt,
    order: id?.order ?? 0,
    recorded: recorded && approvalId !== undefined,
  };
}

/** What a gate is called where a tool would be. */
export function gateTool(flow: string, node: string): string {
  return `node:${flow}.${node}`;
}

/** A gate's request. */
export function gateRequest(
  live: LiveRun,
  visit: string,
  how: { tool: string; payload: unknown; rule: RequestFacts["rule"] },
): ApprovalRequest {
  const { runId, scope, requestedBy } = live.state.seed;
  const { sealer, ids, clock } = live.parts;
  const facts: RequestFacts = {
    kind: "gate",
    tool: how.tool,
    scope,
    runId,
    node: visit,
    callId: gateIdOf(runId, visit),
    argumentKey: sealer.digest(how.payload),
    arguments: how.payload,
    requestedBy,
    rule: how.rule,
  };
  return requestOf(facts, {
    id: ids.id(),
    requestedAt: clock.now(),
    digest: (value) => sealer.digest(value),
  });
}
