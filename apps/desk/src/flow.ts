import { flow } from "@holdpoint/flow";
import { z } from "zod";

import { assess } from "./assess.ts";
import { currencies, Money, show } from "./money.ts";
import { RefundRequest } from "./requests.ts";
import type { DeskTools } from "./tools.ts";

/** What a run knows of its request. */
const RefundState = z.object({
  request: RefundRequest,
  verdict: z.enum(["pay", "refuse"]).optional(),
  why: z.string().optional(),
  recipient: z.string().optional(),
  /** What is to be paid; after `pay`, what was paid. */
  amount: Money.optional(),
  payment: z.string().optional(),
  letter: z.string().optional(),
});
type State = z.infer<typeof RefundState>;

/**
 * The refund desk as a graph:
 *
 *     assess ─┬─ pay ───► review ──► pay ──► tell
 *             │             │ denied  │ failed
 *             │             └────┬────┘
 *             │                  ▼
 *             └─ refuse ──► refuse ◄── release
 *
 * `review` holds above one limit until a reviewer lets go, `pay` above another until the treasurer does.
 */
export function refundFlow(tools: DeskTools) {
  return flow("refund", RefundState)
    .node("assess", ({ request }, ctx) => assess(tools, request, ctx))
    .gate("review", {
      title: "Review a refund",
      payload: ({ request, amount }) => ({ request: request.id, amount: amount! }),
      when: ({ amount }) => amount!.minor > currencies[amount!.currency].reviewAbove,
      approvers: ["role:reviewer"],
    })
    .call("pay", tools.payBack, {
      args: ({ request, amount }) => ({ request: request.id, amount: amount! }),
      into: ({ payment, amount }) => ({ payment, amount }), // a treasurer may have lowered it
    })
    .call("tell", tools.writeLetter, {
      args: (state) => letter(state, "paid", `We paid ${show(state.amount!)} back to you.`),
      into: ({ letter: number }) => ({ letter: number }),
    })
    .call("release", tools.releaseItems, { args: ({ request }) => ({ request: request.id }) })
    .call("refuse", tools.writeLetter, {
      args: (state) =>
        letter(
          state,
          "refused",
          `We can't pay this back: ${state.why ?? "the desk decided against it"}.`,
        ),
      into: ({ letter: number }) => ({ letter: number }),
    })
    .route("assess", ["review", "refuse"], ({ verdict }) =>
      verdict === "pay" ? "review" : "refuse",
    )
    .path("review", "pay", "tell")
    .denied("review", "release")
    .failed("pay", "release")
    .path("release", "refuse")
    .build();
}

export type RefundFlow = ReturnType<typeof refundFlow>;

function letter({ request, recipient }: State, kind: "paid" | "refused", text: string) {
  return {
    request: request.id,
    kind,
    recipient: recipient ?? request.customer,
    body: `Dear ${request.customer},\n\n${text}\nYour request was ${request.id}, for order ${request.order}.\n`,
  };
}
