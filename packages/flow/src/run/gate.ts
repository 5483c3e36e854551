/**
 * A gate: holds until a person lets it go (FLOW-20).
 *
 * G1 State and payload are sealed before the port is asked: what can't go on later is asked of nobody (FLOW-26).
 * G2 A decision is spent in the commit that takes it in; then the visit ends under it, once.
 */
import type {
  ApprovalPort,
  ApprovalRequest,
  DecisionRecord,
  PortAnswer,
} from "@holdpoint/approvals";

import { FlowError } from "../errors.ts";
import type { GraphNode } from "../graph/flow.ts";
import type { GateSpec } from "../graph/node.ts";
import { gateRequest, gateTool, waitOf } from "./ask.ts";
import { deniedInfo } from "./call-end.ts";
import type { VisitEnd } from "./event.ts";
import type { Kept } from "./journal.ts";
import { abortedRun, neverAborted } from "./live.ts";
import type { Place } from "./place.ts";
import { prepareSeal } from "./prepare.ts";
import { revealed } from "./reveal.ts";
import { settleDecided, withdraw } from "./spend.ts";
import type { OpenVisit } from "./state.ts";
import { checkedUpdate, failed } from "./update.ts";

export async function visitGate(
  place: Place,
  visit: OpenVisit,
  node: GraphNode,
  spec: GateSpec,
): Promise<void> {
  const { live } = place;
  const { inputs } = visit;
  if (inputs?.kind !== "gate" || !inputs.asks) {
    return live.emit({ type: "visit-finished", visit: visit.path, end: { ok: true, update: {} } });
  }
  const [answered] = visit.execution.waits;
  if (answered?.kind === "approval") {
    if (answered.answer === undefined)
      return live.emit({ type: "visit-waiting", visit: visit.path });
    return pass(place, visit, node, spec, answered.answer.decision, answered.approvalId);
  }
  prepareSeal(live); // G1
  await ask(place, visit, node, spec, inputs.payload);
}

async function ask(
  place: Place,
  visit: OpenVisit,
  node: GraphNode,
  spec: GateSpec,
  kept: Kept,
): Promise<void> {
  const { live, graph } = place;
  const port = live.parts.approvals;
  if (port === undefined) throw noApprover(place);
  const where = { runId: live.state.seed.runId, node: visit.path };
  const payload = revealed(kept, live.parts.sealer, live.graph.reachable, where);
  const request = gateRequest(live, visit.path, {
    tool: gateTool(graph.name, visit.node),
    payload,
    rule: spec.rule,
  });
  const answer = await answerOf(place, port, request);
  if (answer.status === "pending") {
    live.emit({
      type: "approval-requested",
      visit: visit.path,
      wait: waitOf(request, undefined, {
        approvalId: answer.approvalId,
        recorded: port.records !== undefined,
      }),
    });
    return live.emit({ type: "visit-waiting", visit: visit.path });
  }
  const { approvalId } = answer;
  let { decision } = answer;
  if (approvalId !== undefined && port.records !== undefined) {
    const { callId, argumentsDigest } = request;
    const what = {
      visit: visit.path,
      callId,
      approvalId,
      argumentsDigest,
      outcome: "passed",
      asked: waitOf(request, undefined, { approvalId, recorded: true }),
    } as const;
    ({ decision } = await settleDecided(live, port.records, what)); // G2
  }
  pass(place, visit, node, spec, decision, approvalId);
}

/**
 * Asks the port, and waits no longer than the run lasts: an abort does not hang on a port that never answers. What it files
 * after that is taken back; a durable run finds its record again.
 */
function answerOf(
  { live, signal }: Place,
  port: ApprovalPort,
  request: ApprovalRequest,
): Promise<PortAnswer> {
  // G1 was before; of a nested run that its node's code no longer waits for, the run may have been left since.
  const asked = port.request(request, { signal, prepare: () => live.assertAsks() });
  if (signal === neverAborted) return asked;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(abortedRun(live));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    asked
      .then(async (answer) => {
        signal.removeEventListener("abort", abort);
        if (!signal.aborted) return resolve(answer);
        const { approvalId } = answer;
        if (answer.status === "pending" && approvalId !== undefined && !live.durable)
          await withdraw(live, port.records, approvalId, "cancelled");
        abort();
      })
      .catch(reject);
  });
}

/** Ends a gate's visit under a decision that is spent. */
function pass(
  place: Place,
  visit: OpenVisit,
  node: GraphNode,
  spec: GateSpec,
  decision: DecisionRecord,
  approvalId: string | undefined,
): void {
  const end = gateEnd(place, visit, node, spec, decision, approvalId);
  place.live.emit({ type: "visit-finished", visit: visit.path, end });
}

function gateEnd(
  place: Place,
  visit: OpenVisit,
  node: GraphNode,
  spec: GateSpec,
  decision: DecisionRecord,
  approvalId: string | undefined,
): VisitEnd {
  const { live, graph } = place;
  if (!decision.approved) {
    if (node.denied !== undefined) return { ok: true, update: {}, via: "denied" };
    const tool = gateTool(graph.name, visit.node);
    const error = deniedInfo(tool, approvalId, decision.reason, decision.note, {
      live,
      visit: visit.path,
    });
    return { ok: false, error, ...(node.failed !== undefined && { via: "failed" }) };
  }
  if (decision.edited === undefined) return { ok: true, update: {} };
  try {
    return {
      ok: true,
      update: checkedUpdate(place, visit.path, appliedEdit(spec, decision.edited.arguments, place)),
    };
  } catch (error) {
    return failed(node, error);
  }
}

function appliedEdit(spec: GateSpec, edited: unknown, { frame }: Place): unknown {
  if (spec.edits === undefined) {
    throw new FlowError("edits-not-allowed", `the gate '${spec.name}' takes no edits`, {
      node: spec.name,
    });
  }
  return spec.edits.apply(spec.edits.schema.parse(edited), frame.state);
}

/** Nobody could answer (FLOW-44). */
function noApprover({ live, graph }: Place): FlowError {
  return new FlowError(
    "no-approver",
    "no one can answer: the runner has no approval port, and this flow asks for approvals",
    {
      flow: graph.name,
      runId: live.state.seed.runId,
    },
  );
}
