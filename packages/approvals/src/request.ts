import { digest as digestOf } from "@holdpoint/seal";

import { actorRef, type ActorRef } from "./actor.ts";
import { ApprovalError } from "./errors.ts";
import { isId, isName, limits } from "./limits.ts";
import { checkedRule, type ApprovalRule } from "./rule.ts";

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

/** What a request's printed forms hold: everything but the arguments and the free context. */
export interface RedactedRequest extends Omit<RequestFacts, "arguments" | "context"> {
  readonly id: string;
  readonly requestedAt: number;
  readonly argumentsDigest: string;
}

const brand = Symbol.for("@holdpoint/approvals.request");
const inspect = Symbol.for("nodejs.util.inspect.custom");

/**
 * A request as ports get it and results carry it. Its printed forms (`inspect`, a template, JSON, a structured clone) never
 * hold the arguments or the context (APR-02); the members of those names are the one way to read them.
 */
export class ApprovalRequest implements RedactedRequest {
  readonly id: string;
  readonly kind: "tool" | "gate";
  readonly tool: string;
  readonly scope: string;
  readonly runId: string;
  readonly node: string;
  readonly callId: string;
  readonly argumentKey: string;
  readonly requestedBy: ActorRef | undefined;
  readonly rule: ApprovalRule;
  /** Milliseconds since 1970. */
  readonly requestedAt: number;
  /** Digest of the canonical form of the arguments. */
  readonly argumentsDigest: string;
  readonly #hidden: { readonly arguments: unknown; readonly context: unknown } | undefined;

  /** Use `requestOf` and `requestFromRedacted`, which check what they are given. */
  constructor(
    shown: RedactedRequest,
    hidden: { readonly arguments: unknown; readonly context: unknown } | undefined,
  ) {
    this.id = shown.id;
    this.kind = shown.kind;
    this.tool = shown.tool;
    this.scope = shown.scope;
    this.runId = shown.runId;
    this.node = shown.node;
    this.callId = shown.callId;
    this.argumentKey = shown.argumentKey;
    this.requestedBy = shown.requestedBy;
    this.rule = shown.rule;
    this.requestedAt = shown.requestedAt;
    this.argumentsDigest = shown.argumentsDigest;
    this.#hidden = hidden;
    Object.defineProperty(this, brand, { value: true });
    Object.freeze(this);
  }

  /** The arguments; `undefined` on a request rebuilt from a redacted form, which answers nothing (APR-04). */
  get arguments(): unknown {
    return this.#hidden?.arguments;
  }

  /** Free context for a person to read. */
  get context(): unknown {
    return this.#hidden?.context;
  }

  /** Whether this request was rebuilt from a redacted form: it has no arguments, and no port answers it (APR-04). */
  get redacted(): boolean {
    return this.#hidden === undefined;
  }

  toJSON(): RedactedRequest {
    const { id, kind, tool, scope, runId, node, callId, argumentKey, requestedBy, rule } = this;
    const { requestedAt, argumentsDigest } = this;
    return {
      id,
      kind,
      tool,
      scope,
      runId,
      node,
      callId,
      argumentKey,
      requestedBy,
      rule,
      requestedAt,
      argumentsDigest,
    };
  }

  toString(): string {
    return `ApprovalRequest ${this.id} (${this.tool}, run ${this.runId})`;
  }

  [inspect](): string {
    return this.toString();
  }
}

/**
 * A request of these facts. The arguments become the request's own: change none of them afterwards, their digest is taken
 * now.
 *
 * @throws ApprovalError `request-invalid`, `id-invalid`, `rule-invalid`. @throws SealError where the arguments can't be sealed.
 */
export function requestOf(
  facts: RequestFacts,
  asked: {
    readonly id: string;
    readonly requestedAt: number;
    /** For arguments with registered classes: the sealer's own digest. */
    readonly digest?: (value: unknown) => string;
  },
): ApprovalRequest {
  const { digest = digestOf } = asked;
  return new ApprovalRequest(
    {
      id: checkedId(asked.id, "id"),
      ...checkedFacts(facts),
      requestedAt: asked.requestedAt,
      argumentsDigest: digest(facts.arguments),
    },
    { arguments: facts.arguments, context: facts.context },
  );
}

/** A request as its printed form tells it; it has no arguments and answers nothing (APR-04). */
export function requestFromRedacted(form: RedactedRequest): ApprovalRequest {
  return new ApprovalRequest(
    {
      id: checkedId(form.id, "id"),
      ...checkedFacts(form),
      requestedAt: form.requestedAt,
      argumentsDigest: form.argumentsDigest,
    },
    undefined,
  );
}

/** @throws ApprovalError `request-redacted`: a port that would answer what nobody can read would approve anything (APR-04). */
export function assertReadable(request: ApprovalRequest): void {
  if (!request.redacted) return;
  throw new ApprovalError("request-redacted", "the request has no arguments; ask for it anew", {
    approvalId: request.id,
    runId: request.runId,
  });
}

/** @throws ApprovalError `id-invalid` */
export function checkedId(value: unknown, name: string): string {
  if (isId(value)) return value;
  const most = limits.idCharactersMax;
  throw new ApprovalError("id-invalid", `the ${name} is no id: 1 to ${most} plain characters`);
}

function checkedFacts(
  facts: Omit<RequestFacts, "arguments" | "context">,
): Omit<RequestFacts, "arguments" | "context"> {
  if (facts.kind !== "tool" && facts.kind !== "gate") throw invalid("kind");
  return {
    kind: facts.kind,
    tool: checkedName(facts.tool, "tool"),
    scope: checkedId(facts.scope, "scope"),
    runId: checkedId(facts.runId, "run id"),
    node: facts.node === "" ? "" : checkedName(facts.node, "node"),
    callId: checkedName(facts.callId, "call id"),
    argumentKey: checkedName(facts.argumentKey, "argument key"),
    requestedBy:
      facts.requestedBy === undefined ? undefined : Object.freeze(actorRef(facts.requestedBy)),
    rule: checkedRule(facts.rule),
  };
}

function checkedName(value: unknown, name: string): string {
  if (isName(value)) return value;
  throw invalid(name);
}

function invalid(what: string): ApprovalError {
  const most = limits.nameCharactersMax;
  return new ApprovalError(
    "request-invalid",
    `a request's ${what} has to be text of 1 to ${most} characters without U+0000`,
  );
}
