/**
 * The people of the desk, and a script of what they say, so that the demo needs nobody. They use what a person's browser
 * would use: they read the record, and send a decision for exactly the arguments they were shown.
 */
import {
  approve,
  deny,
  identityPort,
  isApprovalError,
  type Actor,
  type ApprovalView,
  type Decision,
  type Edited,
  type SealedRecords,
} from "@holdpoint/approvals";
import { z } from "zod";

import { scope, type Waiting } from "./desk.ts";
import { Money } from "./money.ts";

/** A host would look a session up here. */
const staff = identityPort((badge) => {
  if (badge === "badge-4711") return { id: "dana", roles: ["reviewer"] };
  if (badge === "badge-0815") return { id: "femi", roles: ["treasurer"] };
  return undefined;
});

/** Makes the edit of a payment; a wrong one does not compile. */
export type LowerPayment = (args: { request: string; amount: Money }) => Edited;

/** What one round of decisions came to. */
export interface Round {
  readonly approved: number;
  readonly edited: number;
  readonly denied: number;
  readonly left: number;
  /** The first record that was decided, to show what a second decision meets. */
  readonly first: string | undefined;
}

const Shown = z.looseObject({ amount: Money });

/** Goes through what waits, once: most things are let go, some denied, one in six is left for another day. */
export async function decideSome(
  records: SealedRecords,
  waiting: readonly Waiting[],
  lower: LowerPayment,
): Promise<Round> {
  const dana = await staff.authenticate("badge-4711");
  const femi = await staff.authenticate("badge-0815");
  const round = { approved: 0, edited: 0, denied: 0, left: 0 };
  let first: string | undefined;
  for (const { request, approval: view } of waiting) {
    const by = view.tool === "pay_back" ? femi : dana;
    const said = say(request, view, by, lower);
    round[said.as] += 1;
    if (said.decision === undefined) continue;
    const { id, argumentsDigest } = view;
    await records.decide({ scope, id, decision: said.decision, argumentsDigest });
    first ??= id;
  }
  return { ...round, first };
}

type Said =
  | { readonly as: "left"; readonly decision?: undefined }
  | { readonly as: "approved" | "edited" | "denied"; readonly decision: Decision };

function say(request: string, view: ApprovalView, by: Actor, lower: LowerPayment): Said {
  const number = Number(request.slice(2));
  if (number % 6 === 5) return { as: "left" };
  if (number % 7 === 3) {
    return { as: "denied", decision: deny({ by, note: "Not by our terms." }) };
  }
  if (view.tool === "pay_back" && number % 8 === 2) {
    return { as: "denied", decision: deny({ by, note: "Not from this account." }) };
  }
  if (view.tool === "pay_back" && number % 4 === 1) {
    const { amount } = Shown.parse(view.arguments().proposed);
    const minor = amount.minor - Math.floor(amount.minor / 10);
    const edited = lower({ request, amount: { ...amount, minor } });
    return { as: "edited", decision: approve({ by, edited, note: "Less 10 % for use." }) };
  }
  return { as: "approved", decision: approve({ by }) };
}

/** Says the opposite on a record that is decided. @returns how that was refused. @throws Error where it was not. */
export async function decideTwice(records: SealedRecords, id: string): Promise<string> {
  const view = await records.show(scope, id);
  const by = await staff.authenticate(view?.tool === "pay_back" ? "badge-0815" : "badge-4711");
  const decision = view?.decision?.approved === true ? deny({ by }) : approve({ by });
  try {
    await records.decide({ scope, id, decision });
  } catch (error) {
    if (isApprovalError(error, "approval-already-decided")) return error.message;
    throw error;
  }
  throw new Error(`the approval ${id} took a second decision`);
}
