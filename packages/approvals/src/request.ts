import type { ActorRef } from "./actor.ts";
import type { ApprovalRule } from "./rule.ts";

/** Everything a request says, arguments included: plain data, as it is sealed. */
export interface RequestFacts {
  /** `tool`: a tool call; `gate`: a gate of a flow, whose arguments are its payload. */
  readonly kind: "tool" | "gate";
  /** The tool's name, or `node:<flow>.<node>` for a gate. */
  readonly tool: string;
  readonly scope: string;
  readonly runId: string;
  /** The visit's path in the run: `review#1`. */
  readonly node: string;
  /** Names this very call; repeats at every re-run. */
  readonly callId: string;
  /** The journal key of the arguments as the caller passed them; a random default does not change it. */
  readonly argumentKey: string;
  /** What a person is shown, and what runs. */
  readonly arguments: unknown;
  readonly requestedBy: ActorRef | undefined;
  readonly rule: ApprovalRule;
  /** Free context for a person to read. */
  readonly context?: unknown;
}

/** A request as ports get it and results carry it; its printed forms never hold the arguments (APR-02). */
export interface ApprovalRequest extends Omit<RequestFacts, "arguments"> {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly requestedAt: number;
  /** Digest of the canonical form of the arguments. */
  readonly argumentsDigest: string;
  /** The arguments; `undefined` on a request rebuilt from a redacted form, which answers nothing (APR-04). */
  readonly arguments: unknown;
}
