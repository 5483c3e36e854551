/**
 * The books: three accounts of the same money, each from another place, compared to the minor unit.
 *
 * B1 What left: the provider's payments. B2 What the runs say was paid. B3 What was allowed: the amount that a person let go,
 *    or, where nobody had to be asked, the price of what was claimed, worked out anew from the order.
 * B4 Sums could agree by luck, so each request is compared by itself as well.
 */
import { amountOf } from "./assess.ts";
import { groupedBy } from "./group.ts";
import { currencies, currencyCodes, differing, show, sumOf, type Money } from "./money.ts";
import type { Order } from "./orders.ts";
import type { Payment } from "./provider.ts";
import type { Item, RefundRequest } from "./requests.ts";

/** How a request stands, as its run says. */
export type Outcome =
  | { readonly status: "paid"; readonly payment: string; readonly amount: Money }
  /** By the desk's own rules, nobody was asked. */
  | { readonly status: "refused" }
  /** By a person. */
  | { readonly status: "denied" }
  | { readonly status: "waiting" }
  | { readonly status: "set-aside"; readonly why: string };

/** What one approval's record says. */
export interface Permission {
  readonly request: string;
  readonly tool: string;
  /** Absent: nobody has decided. */
  readonly approved: boolean | undefined;
  /** What was let go, where the record is about money. */
  readonly amount: Money | undefined;
}

/** Everything that the books are made from. */
export interface Accounts {
  readonly requests: readonly RefundRequest[];
  readonly orders: ReadonlyMap<string, Order>;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly permissions: readonly Permission[];
  readonly payments: readonly Payment[];
  readonly claims: readonly (Item & { readonly order: string; readonly request: string })[];
  readonly letters: readonly {
    readonly request: string;
    readonly kind: string;
    readonly count: number;
  }[];
}

export interface Books {
  readonly counts: Readonly<Record<Outcome["status"], number>>;
  readonly doublePayments: number;
  /** By currency: what left, what the runs say, what was allowed. */
  readonly lines: readonly {
    readonly left: Money;
    readonly said: Money;
    readonly allowed: Money;
  }[];
  /** What is wrong, in words; empty: the books balance. */
  readonly wrong: readonly string[];
}

export function keepBooks(accounts: Accounts): Books {
  const { payments, outcomes } = accounts;
  const counts = { paid: 0, refused: 0, denied: 0, waiting: 0, "set-aside": 0 };
  for (const { status } of outcomes.values()) counts[status] += 1;
  const paidRuns = [...outcomes].flatMap(([id, outcome]) =>
    outcome.status === "paid" ? [{ id, ...outcome }] : [],
  );
  const allowed = paidRuns.map(({ id }) => allowedFor(id, accounts));
  const left = sumOf(payments);
  const said = sumOf(paidRuns.map(({ amount }) => amount));
  const letGo = sumOf(allowed.flatMap(({ amount }) => amount ?? []));
  const doublePayments = payments.length - new Set(payments.map(({ request }) => request)).size;
  return {
    counts,
    doublePayments,
    lines: currencyCodes.map((currency) => ({
      left: { currency, minor: left.get(currency) ?? 0 },
      said: { currency, minor: said.get(currency) ?? 0 },
      allowed: { currency, minor: letGo.get(currency) ?? 0 },
    })),
    wrong: [
      ...differing(left, said).map((code) => `what left and what the runs say differ in ${code}`),
      ...differing(said, letGo).map(
        (code) => `what was paid and what was allowed differ in ${code}`,
      ),
      ...allowed.flatMap(({ wrong }) => wrong ?? []),
      ...[...outcomes].flatMap(([id, outcome]) =>
        outcome.status === "set-aside" ? [`${id} can't be read: ${outcome.why}`] : [],
      ),
      ...wrongPayments(accounts),
      ...wrongLetters(accounts),
      ...wrongClaims(accounts),
    ],
  };
}

interface Allowed {
  readonly amount?: Money;
  readonly wrong?: string;
}

/** B3 */
function allowedFor(id: string, { requests, orders, permissions, claims }: Accounts): Allowed {
  const granted = permissions.filter(
    ({ request, approved }) => request === id && approved === true,
  );
  const last =
    granted.find(({ tool }) => tool === "pay_back") ??
    granted.find(({ tool }) => tool === "node:refund.review");
  if (last?.amount !== undefined) return { amount: last.amount };
  const request = requests.find((one) => one.id === id);
  const order = orders.get(request?.order ?? "");
  if (request === undefined || order === undefined) return { wrong: `${id} is no request` };
  const mine = claims.filter((claim) => claim.request === id);
  const amount = amountOf(order, mine, request.atMostMinor);
  if (amount.minor <= currencies[amount.currency].reviewAbove) return { amount };
  return { amount, wrong: `${id}: ${show(amount)} was paid, and nobody was asked` };
}

/** B4: one payment a paid run, of that amount; none for any other. */
function wrongPayments({ payments, outcomes }: Accounts): string[] {
  const wrong: string[] = [];
  const byRequest = groupedBy(payments, ({ request }) => request);
  for (const [request, made] of byRequest) {
    if (made.length > 1) wrong.push(`${request} was paid ${made.length} times`);
    const status = outcomes.get(request)?.status ?? "unknown";
    if (status !== "paid") wrong.push(`${request} was paid, and its run is ${status}`);
  }
  for (const [request, outcome] of outcomes) {
    if (outcome.status !== "paid") continue;
    const payment = byRequest.get(request)?.find(({ id }) => id === outcome.payment);
    if (payment === undefined) wrong.push(`${request}: there is no payment ${outcome.payment}`);
    else if (show(payment) !== show(outcome.amount)) {
      wrong.push(`${request}: ${show(payment)} left, and the run says ${show(outcome.amount)}`);
    }
  }
  return wrong;
}

const lettersOf: Readonly<Record<Outcome["status"], readonly string[]>> = {
  paid: ["1 paid"],
  refused: ["1 refused"],
  denied: ["1 refused"],
  waiting: [],
  "set-aside": [],
};

/** One letter a finished request, of the right kind. */
function wrongLetters({ letters, outcomes }: Accounts): string[] {
  const wrong: string[] = [];
  for (const [request, { status }] of outcomes) {
    const sent = letters.filter((letter) => letter.request === request);
    const wanted = lettersOf[status];
    const found = sent.map(({ kind, count }) => `${count} ${kind}`);
    if (found.join() !== wanted.join()) {
      wrong.push(`${request} is ${status}, and its letters are: ${found.join() || "none"}`);
    }
  }
  return wrong;
}

/** Nothing is paid back that was not bought. */
function wrongClaims({ claims, orders }: Accounts): string[] {
  const taken = groupedBy(claims, ({ order, sku }) => `${order} ${sku}`);
  return [...taken].flatMap(([what, parts]) => {
    const { order, sku } = parts[0]!;
    const bought = orders.get(order)?.lines.find((line) => line.sku === sku)?.quantity ?? 0;
    const claimed = parts.reduce((sum, { quantity }) => sum + quantity, 0);
    return claimed > bought ? [`${what}: ${claimed} were claimed, and ${bought} bought`] : [];
  });
}
