import type { ApprovalView } from "@holdpoint/approvals";
import { z } from "zod";

import type { Accounts, Outcome, Permission } from "./books.ts";
import type { Desk } from "./desk.ts";
import { Money } from "./money.ts";
import type { Order } from "./orders.ts";
import type { Provider } from "./provider.ts";
import type { RefundRequest } from "./requests.ts";
import type { Standing } from "./standing.ts";

/** Gathers what the books are made from: runs and approvals from the desk, money and letters from outside. */
export async function accountsOf(
  desk: Desk,
  provider: Provider,
  requests: readonly RefundRequest[],
  orders: ReadonlyMap<string, Order>,
): Promise<Accounts> {
  const permissions = (await desk.approvals()).map(permissionOf);
  const denied = new Set(
    permissions.filter(({ approved }) => approved === false).map(({ request }) => request),
  );
  const standings = await desk.standings();
  return {
    requests,
    orders,
    outcomes: new Map(
      requests.map(({ id }) => [id, outcomeOf(standings.get(id), denied.has(id))] as const),
    ),
    permissions,
    payments: provider.payments(),
    claims: provider.claims(),
    letters: provider.letters(),
  };
}

function outcomeOf(standing: Standing | undefined, denied: boolean): Outcome {
  if (standing === undefined) return { status: "set-aside", why: "it has no run" };
  if (standing.status === "elsewhere") {
    return { status: "set-aside", why: "its run is under way, or was left half-way" };
  }
  if (standing.status !== "completed") return standing;
  const { outcome } = standing;
  if (outcome.kind === "paid") {
    return { status: "paid", payment: outcome.payment, amount: outcome.amount };
  }
  return { status: denied ? "denied" : "refused" };
}

const Shown = z.looseObject({ request: z.string(), amount: Money.optional() });

/** What a record lets go: the arguments that run, which a person may have lowered. */
function permissionOf(view: ApprovalView): Permission {
  const { request, amount } = Shown.parse(view.arguments().effective);
  return { request, tool: view.tool, approved: view.decision?.approved, amount };
}
