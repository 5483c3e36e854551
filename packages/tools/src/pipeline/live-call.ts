import type {
  ApprovalRequest,
  ApprovalRule,
  DecisionRecord,
  WithdrawReason,
} from "@holdpoint/approvals";

import { type Gate, gateOf } from "../confirm.ts";
import { type CallContext, OrderContext } from "../context.ts";
import { type ErrorInfo, errorInfo } from "../error-info.ts";
import type { ToolError } from "../errors.ts";
import { tell, type ToolEvent, type ToolEventFacts } from "../events.ts";
import type { CallOrder, CallOutcome } from "../order.ts";
import type { Ports } from "../ports.ts";
import { infoWithoutSecrets, secretTexts } from "../secret.ts";
import type { ToolRecord } from "../tool-record.ts";

/** The approval that a call goes by. */
export interface GivenApproval {
  readonly id: string | undefined;
  readonly decision: DecisionRecord;
  /** Absent for a decision that came with the order. */
  readonly request: ApprovalRequest | undefined;
  /** The rule by which it was asked for, where that is known. */
  readonly asked: ApprovalRule | undefined;
  /** Digest of what may run, taken when it was shown or decided; absent where the copy says it all. */
  readonly digest: string | undefined;
  /**
   * A copy of it, where one was taken: comparing with that is five times cheaper than another
   * digest.
   */
  readonly copy?: unknown;
  /** The attempt that has used it up, once it has. */
  readonly settled?: string;
}

/** A step of the pipeline: an outcome ends the call, nothing lets it go on. */
export type Step = (call: LiveCall) => CallOutcome | undefined | Promise<CallOutcome | undefined>;

/** One call on its way through the pipeline. */
export class LiveCall {
  readonly order: CallOrder;
  readonly record: ToolRecord;
  readonly ports: Ports;
  /** What `execute` gets: validated, recorded or decided. */
  args: unknown = undefined;
  approval: GivenApproval | undefined = undefined;
  cost = 0;
  /** Set when `execute` is entered. */
  execution: { readonly startedAt: number; readonly since: number; attempts: number } | undefined =
    undefined;
  /** What a runner's own `prepare` or `dispatch` threw. */
  runnerFailure: { readonly thrown: unknown } | undefined = undefined;
  #context: CallContext | undefined = undefined;

  constructor(order: CallOrder, record: ToolRecord, ports: Ports) {
    this.order = order;
    this.record = record;
    this.ports = ports;
  }

  /** For `confirm`, `revalidate` and guards; an attempt has one of its own. */
  get context(): CallContext {
    return (this.#context ??= new OrderContext(this.order));
  }

  /** What the tool's rule says now, of what would run. */
  gate(): Gate {
    return gateOf(this.record.confirm, this.args, this.context);
  }

  digest(value: unknown): string {
    return this.ports.sealer.digest(value);
  }

  /** Digest of what was approved. */
  approvedDigest({ digest, copy }: GivenApproval): string {
    return digest ?? this.digest(copy);
  }

  /** The failure of a call: bounded data, without what the tool marks secret (TOOL-11). */
  failed(thrown: unknown): CallOutcome {
    const executed = this.execution !== undefined;
    return { status: "failed", error: this.infoOf(thrown), executed };
  }

  /** A refusal of what had been approved: nobody has used the approval, and nobody will. */
  refused(error: ToolError, reason: WithdrawReason): CallOutcome {
    const outcome = { status: "failed", error: this.infoOf(error), executed: false } as const;
    if (this.approval === undefined) return outcome;
    return { ...outcome, unused: { approvalId: this.approval.id, reason } };
  }

  infoOf(thrown: unknown): ErrorInfo {
    const info = errorInfo(thrown);
    const { secrets } = this.record;
    if (secrets.length === 0) return info;
    const texts = [this.order.input.value, this.args].flatMap((from) => secretTexts(from, secrets));
    return infoWithoutSecrets(info, texts);
  }

  tell(facts: ToolEventFacts): void {
    const { listeners } = this.ports;
    if (listeners.size === 0) return;
    const { runId, node } = this.order;
    const ids = { tool: this.record.name, runId, node, callId: textOf(() => this.order.callId()) };
    tell(listeners, { ...facts, ...ids } as ToolEvent);
  }
}

/** An id that needs the input's key: absent where the input has none. */
export function textOf(id: () => string): string | undefined {
  try {
    return id();
  } catch {
    return undefined;
  }
}
