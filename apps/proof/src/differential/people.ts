import {
  approve,
  DeferredApproval,
  deny,
  editedArguments,
  memoryApprovalStore,
  unverified,
  type ApprovalPort,
  type ApprovalRequest,
  type Decision,
  type EditPort,
} from "@holdpoint/approvals";
import { answer, defineInterrupt, type OneReply, type Pending } from "@holdpoint/flow";
import type { Keyring } from "@holdpoint/seal";
import { z } from "zod";

import { numberOf, shortOf } from "./trace.ts";

const by = unverified("dana");

/** The question that is no approval. */
export const word = defineInterrupt({
  name: "word",
  info: z.object({ n: z.number() }),
  answer: z.string(),
});

/** What is answered depends on what is asked and where, too. */
export function wordOn(node: string, n: number): string {
  return `word${shortOf(`${node} ${n}`)}`;
}

/** What is decided depends on what is asked and where, never on when. */
function verdictOn({ node, tool, arguments: shown }: ApprovalRequest, edits: boolean): Decision {
  const { n } = shown as { readonly n: number };
  const luck = numberOf(`${node} ${tool} ${n}`) % 10;
  if (luck === 0) return deny({ by });
  if (luck > 2 || !edits) return approve({ by });
  return approve({ by, edited: editedArguments(tool, { ...(shown as object), n: n + 5 }) });
}

/** Whether the n-th question of a run (from 0) waits, or is decided at once. */
export type Waits = (question: number) => boolean;

/** A port whose people decide some of the questions at once. */
export interface People extends ApprovalPort {
  /** Questions so far. */
  readonly asked: number;
  replyTo(pending: Pending): OneReply;
}

/** `editable`: the tools and gates whose questions take edits. */
export function people(how: {
  readonly keyring: Keyring;
  readonly scope: string;
  readonly edits: EditPort;
  readonly editable: ReadonlySet<string>;
  readonly waits: Waits;
}): People {
  const { keyring, scope, edits, editable, waits } = how;
  const port = new DeferredApproval(memoryApprovalStore(), { keyring, edits });
  const numbers = new Map<string, number>();
  const decisionOn = (request: ApprovalRequest): Decision =>
    verdictOn(request, editable.has(request.tool));
  return {
    records: port.records,
    get asked() {
      return numbers.size;
    },
    replyTo(pending) {
      if (pending.kind === "approval") return decisionOn(pending.request);
      if (pending.kind !== "interrupt") throw new Error(`nobody answers ${pending.kind}`);
      const { n } = pending.info as { readonly n: number };
      return answer(word, wordOn(pending.path, n));
    },
    async request(request, asking) {
      const answer = await port.request(request, asking);
      if (answer.status !== "pending") return answer;
      const id = answer.approvalId!;
      const number = numbers.get(id) ?? numbers.size;
      numbers.set(id, number);
      if (waits(number)) return answer;
      await port.records.decide({ scope, id, decision: decisionOn(request) });
      return port.request(request, asking);
    },
  };
}
