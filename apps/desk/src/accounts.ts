import type { Accounts } from "./books.ts";
import type { Desk } from "./desk.ts";
import type { Order } from "./orders.ts";
import { outcomesOf } from "./outcomes.ts";
import type { Provider } from "./provider.ts";
import type { RefundRequest } from "./requests.ts";

/** Gathers what the books are made from: runs and approvals from the desk, money and letters from outside. */
export async function accountsOf(
  desk: Desk,
  provider: Provider,
  requests: readonly RefundRequest[],
  orders: ReadonlyMap<string, Order>,
): Promise<Accounts> {
  const approvals = await desk.approvals();
  return {
    requests,
    orders,
    outcomes: await outcomesOf(desk, requests, approvals),
    approvals,
    payments: provider.payments(),
    claims: provider.claims(),
    letters: provider.letters(),
  };
}
