import {
  type ApprovalPort,
  type ApprovalRequest,
  type ApprovalRule,
  requestOf,
} from "@holdpoint/approvals";

import { ToolDefinitionError, ToolDispatchError } from "../errors.ts";
import { copyOpen } from "../open-copy.ts";
import { isUnchanged } from "../same-data.ts";
import type { LiveCall } from "./live-call.ts";
import type { CallOutcome } from "../order.ts";
import { cancelled } from "./take-arguments.ts";

/** Asks the approval port where the tool's rule, or the record of the call, says so. */
export function askPerson(
  call: LiveCall,
): CallOutcome | undefined | Promise<CallOutcome | undefined> {
  const { recorded } = call.order;
  if (call.record.confirm === false && recorded?.gated !== true) return undefined;
  if (recorded?.gated === true && recorded.decision !== undefined) return takeRecorded(call);
  const gate = call.gate();
  if (gate.kind === "forbidden") return forbidden(call, gate.reason);
  // On record, a call is gated if it was, whatever `confirm` says now (FLOW-35, FLOW-66).
  if (!(recorded?.gated ?? gate.kind === "gated")) return undefined;
  const { approvals } = call.ports;
  if (approvals === undefined) return noApprover(call);
  return ask(call, approvals, recorded?.rule ?? (gate.kind === "gated" ? gate.rule : {}));
}

function takeRecorded(call: LiveCall): CallOutcome | undefined {
  const { decision, approvalId: id, rule: asked } = call.order.recorded!;
  if (!decision!.approved) return { status: "denied", decision: decision!, approvalId: id };
  const copy = copyOf(call.args);
  // What a copy can't tell from its original, a digest of this moment has to.
  const digest = isUnchanged(copy, call.args) ? undefined : call.digest(call.args);
  call.approval = { id, decision: decision!, request: undefined, asked, digest, copy };
  return undefined;
}

async function ask(
  call: LiveCall,
  port: ApprovalPort,
  rule: ApprovalRule,
): Promise<CallOutcome | undefined> {
  let request = newRequest(call, rule);
  let copy = copyOf(call.args);
  call.tell({ kind: "requested", requestId: request.id });
  const { signal } = call.order;
  const answer = await port.request(request, { signal, prepare: () => prepare(call) });
  // A port that swallowed the failure would leave a request that nothing can resume.
  if (call.runnerFailure !== undefined) throw call.runnerFailure.thrown;
  if (answer.recorded !== undefined) {
    // The first draw stands: what was shown then is what runs (FLOW-35).
    call.args = answer.recorded.arguments;
    request = newRequest(call, rule, request.id);
    copy = copyOf(call.args);
  }
  if (answer.status === "pending") {
    const { approvalId } = answer;
    if (approvalId === undefined && signal.aborted) return cancelled(call); // nobody was asked
    call.tell({ kind: "pending", requestId: request.id, approvalId });
    return { status: "pending", request, approvalId };
  }
  const { decision, approvalId: id } = answer;
  const { approved, edited } = decision;
  const isEdited = edited !== undefined;
  call.tell({ kind: "decided", requestId: request.id, approvalId: id, approved, edited: isEdited });
  if (approved && isEdited) call.args = edited.arguments;
  const digest = isEdited ? call.digest(call.args) : request.argumentsDigest;
  call.approval = {
    id,
    decision,
    request,
    // A record may have been filed by an earlier rule; only who answers at once has answered this
    // one.
    asked: id === undefined ? request.rule : undefined,
    digest,
    ...(!isEdited && { copy }),
  };
  return undefined;
}

function copyOf(args: unknown): unknown {
  return copyOpen(args, { copies: undefined, mode: "snapshot" });
}

function newRequest(call: LiveCall, rule: ApprovalRule, id?: string): ApprovalRequest {
  const { order, record, ports } = call;
  const { scope, runId, node, requestedBy } = order;
  return requestOf(
    {
      kind: "tool",
      tool: record.name,
      scope,
      runId,
      node,
      callId: order.callId(),
      argumentKey: order.argumentKey(),
      arguments: call.args,
      requestedBy,
      rule,
    },
    {
      id: id ?? ports.ids.id(),
      requestedAt: ports.clock.now(),
      digest: (value) => call.digest(value),
    },
  );
}

async function prepare(call: LiveCall): Promise<void> {
  try {
    await call.order.prepare();
  } catch (thrown) {
    call.runnerFailure = { thrown };
    throw thrown;
  }
}

function forbidden(call: LiveCall, reason: string): CallOutcome {
  const tool = call.record.name;
  const error = new ToolDispatchError(`the rule of '${tool}' forbids this call: ${reason}`, {
    code: "rule-forbids",
    attributes: { tool, reason },
  });
  return call.refused(error, "cancelled");
}

function noApprover(call: LiveCall): CallOutcome {
  const tool = call.record.name;
  return call.failed(
    new ToolDefinitionError(
      `'${tool}' needs a person's word, and the executor has no approval port`,
      {
        code: "no-approver",
        attributes: { tool },
      },
    ),
  );
}
