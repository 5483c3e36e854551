import { describe, expect, it } from "vitest";

import { keepBooks, type Accounts, type Permission } from "../src/books.ts";
import type { Order } from "../src/orders.ts";

const order: Order = {
  id: "A-1001",
  customer: { name: "Ada", email: "ada@example.com" },
  currency: "EUR",
  delivered: "2026-02-01",
  lines: [
    { sku: "MUG", name: "Mug", quantity: 3, unitMinor: 1_000 },
    { sku: "SOFA", name: "Sofa", quantity: 1, unitMinor: 200_000 },
  ],
};
const request = (id: string, sku: string, quantity: number) => ({
  id,
  order: "A-1001",
  customer: "Ada",
  received: "2026-02-03",
  items: [{ sku, quantity }],
  reason: "broken",
});
const eur = (minor: number) => ({ currency: "EUR", minor }) as const;

/** A record of a treasurer who let 200 000 cents go. */
const treasurer: Permission = {
  request: "R-0002",
  tool: "pay_back",
  approved: true,
  amount: eur(200_000),
};

/** Two paid requests, one small and one let go by a person; one refused; one that waits. */
function balanced(): Accounts {
  return {
    requests: [
      request("R-0001", "MUG", 2),
      request("R-0002", "SOFA", 1),
      request("R-0003", "MUG", 3),
      request("R-0004", "MUG", 1),
    ],
    orders: new Map([[order.id, order]]),
    outcomes: new Map([
      ["R-0001", { status: "paid", payment: "P-1", amount: eur(2_000) }],
      ["R-0002", { status: "paid", payment: "P-2", amount: eur(200_000) }],
      ["R-0003", { status: "refused" }],
      ["R-0004", { status: "waiting" }],
    ]),
    permissions: [treasurer],
    payments: [
      { id: "P-1", request: "R-0001", ...eur(2_000) },
      { id: "P-2", request: "R-0002", ...eur(200_000) },
    ],
    claims: [
      { order: "A-1001", sku: "MUG", request: "R-0001", quantity: 2 },
      { order: "A-1001", sku: "SOFA", request: "R-0002", quantity: 1 },
      { order: "A-1001", sku: "MUG", request: "R-0004", quantity: 1 },
    ],
    letters: [
      { request: "R-0001", kind: "paid", count: 1 },
      { request: "R-0002", kind: "paid", count: 1 },
      { request: "R-0003", kind: "refused", count: 1 },
    ],
  };
}

const wrongIn = (changes: Partial<Accounts>) => keepBooks({ ...balanced(), ...changes }).wrong;

describe("the books", () => {
  it("DESK-03 balance where each request was paid once, what was allowed", () => {
    const books = keepBooks(balanced());
    expect(books.wrong).toEqual([]);
    expect(books.doublePayments).toBe(0);
    expect(books.counts).toMatchObject({ paid: 2, refused: 1, waiting: 1 });
    expect(books.lines[0]).toEqual({
      left: eur(202_000),
      said: eur(202_000),
      allowed: eur(202_000),
    });
  });

  it("DESK-03 show a request that was paid twice", () => {
    const { payments } = balanced();
    const twice = [...payments, { id: "P-3", request: "R-0001", ...eur(2_000) }];
    const books = keepBooks({ ...balanced(), payments: twice });
    expect(books.doublePayments).toBe(1);
    expect(books.wrong).toEqual([
      "what left and what the runs say differ in EUR",
      "R-0001 was paid 2 times",
    ]);
  });

  it("DESK-03 show one minor unit too much", () => {
    const payments = [
      { id: "P-1", request: "R-0001", ...eur(2_001) },
      { id: "P-2", request: "R-0002", ...eur(200_000) },
    ];
    expect(wrongIn({ payments })).toEqual([
      "what left and what the runs say differ in EUR",
      "R-0001: 20.01 EUR left, and the run says 20.00 EUR",
    ]);
  });

  it("DESK-03 show two errors that make up for each other", () => {
    const payments = [
      { id: "P-1", request: "R-0001", ...eur(2_001) },
      { id: "P-2", request: "R-0002", ...eur(199_999) },
    ];
    expect(wrongIn({ payments })).toHaveLength(2);
  });

  it("DESK-03 show a right number in a wrong currency", () => {
    const payments = balanced().payments.map((payment) => ({
      ...payment,
      currency: payment.id === "P-1" ? ("USD" as const) : payment.currency,
    }));
    expect(wrongIn({ payments })).toEqual([
      "what left and what the runs say differ in EUR",
      "what left and what the runs say differ in USD",
      "R-0001: 20.00 USD left, and the run says 20.00 EUR",
    ]);
  });

  it("DESK-03 show money for a request that waits, and a payment that is not there", () => {
    const payments = [
      { id: "P-1", request: "R-0001", ...eur(2_000) },
      { id: "P-2", request: "R-0004", ...eur(200_000) },
    ];
    expect(wrongIn({ payments })).toEqual([
      "R-0004 was paid, and its run is waiting",
      "R-0002: there is no payment P-2",
    ]);
  });

  it("DESK-03 show a large payment that nobody was asked about", () => {
    expect(wrongIn({ permissions: [] })).toEqual([
      "R-0002: 2 000.00 EUR was paid, and nobody was asked",
    ]);
  });

  it("DESK-03 show more than the treasurer let go", () => {
    const lowered = { ...treasurer, amount: eur(150_000) };
    expect(wrongIn({ permissions: [lowered] })).toEqual([
      "what was paid and what was allowed differ in EUR",
    ]);
  });

  it("DESK-03 show letters that are missing, doubled or of the wrong kind", () => {
    const letters = [
      { request: "R-0001", kind: "refused", count: 1 },
      { request: "R-0002", kind: "paid", count: 2 },
    ];
    expect(wrongIn({ letters })).toEqual([
      "R-0001 is paid, and its letters are: 1 refused",
      "R-0002 is paid, and its letters are: 2 paid",
      "R-0003 is refused, and its letters are: none",
    ]);
  });

  it("DESK-03 show more asked back than was bought", () => {
    const claims = [
      ...balanced().claims,
      { order: "A-1001", sku: "MUG", request: "R-0003", quantity: 1 },
    ];
    expect(wrongIn({ claims })).toEqual(["A-1001 MUG: 4 were claimed, and 3 bought"]);
  });

  it("name a run that can't be read", () => {
    const outcomes = new Map([
      ...balanced().outcomes,
      ["R-0004", { status: "set-aside", why: "its log was changed" }] as const,
    ]);
    expect(wrongIn({ outcomes })).toEqual(["R-0004 can't be read: its log was changed"]);
  });
});
