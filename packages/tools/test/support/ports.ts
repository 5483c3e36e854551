import type {
  ApprovalPort,
  ApprovalRequest,
  DecisionRecord,
  PortAnswer,
} from "@holdpoint/approvals";

export const dana = { id: "dana", assurance: "verified", roles: ["finance"] } as const;

export function decision(more: Partial<DecisionRecord> = {}): DecisionRecord {
  return { approved: true, by: dana, at: 1_000_000, ...more };
}

/** A port that answers from a script, and keeps what it was asked. */
export function scriptedPort(
  ...answers: (PortAnswer | ((request: ApprovalRequest) => PortAnswer | Promise<PortAnswer>))[]
): ApprovalPort & { readonly requests: ApprovalRequest[] } {
  const requests: ApprovalRequest[] = [];
  return {
    requests,
    async request(request) {
      requests.push(request);
      const answer = answers[Math.min(requests.length, answers.length) - 1]!;
      return typeof answer === "function" ? answer(request) : answer;
    },
  };
}

export const approved = (more: Partial<DecisionRecord> = {}): PortAnswer => ({
  status: "decided",
  decision: decision(more),
});
