/**
 * Writes `data/orders.jsonl` and `data/requests.jsonl`: the same bytes at every run, from one seed.
 *
 * Run it with `node apps/desk/scripts/make-data.ts`; the files are kept in the repository, and the demo never calls this.
 */
import { writeFileSync } from "node:fs";

import { badLines, type BadLine } from "./bad-lines.ts";
import { people, products, reasons } from "./stock.ts";

const ordersWanted = 150;
const requestsWanted = 200;

/** Mulberry32: small, and the same everywhere. */
function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const chance = chanceOf(20_260_301);
const below = (bound: number): number => Math.floor(chance() * bound);
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;

/** Minor units of one euro's worth, roughly, and the steps that prices come in. */
const currencies = [
  { code: "EUR", perEuro: 100, step: 5, weight: 40 },
  { code: "USD", perEuro: 110, step: 1, weight: 20 },
  { code: "GBP", perEuro: 85, step: 1, weight: 14 },
  { code: "CHF", perEuro: 95, step: 5, weight: 8 },
  { code: "JPY", perEuro: 165, step: 10, weight: 10 },
  { code: "KWD", perEuro: 330, step: 5, weight: 8 },
] as const;

function pickCurrency(): (typeof currencies)[number] {
  let left = below(currencies.reduce((sum, { weight }) => sum + weight, 0));
  return currencies.find(({ weight }) => (left -= weight) < 0)!;
}

function day(offset: number): string {
  return new Date(Date.UTC(2026, 0, 5) + offset * 86_400_000).toISOString().slice(0, 10);
}

interface Line {
  sku: string;
  name: string;
  quantity: number;
  unitMinor: number;
}

interface Order {
  id: string;
  customer: { name: string; email: string };
  currency: string;
  delivered: string;
  lines: Line[];
}

function makeOrder(number: number): Order {
  const { code, perEuro, step } = pickCurrency();
  const lines: Line[] = [];
  const shuffled = products
    .map((product) => ({ product, at: chance() }))
    .sort((one, other) => one.at - other.at);
  for (const { product } of shuffled.slice(0, 1 + below(4))) {
    const unitMinor = Math.max(
      step,
      Math.round((product.euros * perEuro * (0.9 + chance() / 5)) / step) * step,
    );
    lines.push({
      sku: product.sku,
      name: product.name,
      quantity: 1 + (chance() < 0.35 ? below(4) : 0),
      unitMinor,
    });
  }
  return {
    id: `A-${1000 + number}`,
    customer: {
      name: people[number % people.length]!,
      email: `customer${String(number).padStart(3, "0")}@example.com`,
    },
    currency: code,
    delivered: day(below(50)),
    lines,
  };
}

function makeRequest(number: number, order: Order, again: boolean): Record<string, unknown> {
  const all = again || chance() < 0.3;
  const chosen = all ? order.lines : order.lines.filter(() => chance() < 0.6);
  const lines = chosen.length > 0 ? chosen : order.lines.slice(0, 1);
  const items = lines.map(({ sku, quantity }) => ({
    sku,
    quantity: all ? quantity : 1 + below(quantity),
  }));
  const asked = lines.reduce((sum, line, at) => sum + line.unitMinor * items[at]!.quantity, 0);
  const late = chance() < 0.08;
  const received = Date.parse(order.delivered) / 86_400_000 - Date.UTC(2026, 0, 5) / 86_400_000;
  const partly = chance() < 0.15 && asked > 400;
  return {
    id: `R-${String(number).padStart(4, "0")}`,
    order: order.id,
    customer: order.customer.name,
    received: day(received + (late ? 33 + below(40) : 1 + below(27))),
    items,
    ...(partly && { atMostMinor: Math.floor(asked / (2 + below(3))) }),
    reason: pick(reasons),
  };
}

const orders = Array.from({ length: ordersWanted }, (_, number) => makeOrder(number + 1));
const requests: Record<string, unknown>[] = [];
for (let number = 1; number <= requestsWanted; number++) {
  const again = number > ordersWanted;
  const order = again ? pick(orders) : orders[number - 1]!;
  requests.push(makeRequest(number, order, again));
}

/** Bad lines stand at fixed places among the good ones. */
function withBadLines(good: readonly string[], bad: readonly BadLine[]): string[] {
  const lines = [...good];
  for (const { after, text } of bad) lines.splice(after, 0, text);
  return lines;
}

function write(name: string, lines: readonly string[]): void {
  writeFileSync(new URL(`../data/${name}`, import.meta.url), `${lines.join("\n")}\n`);
}

write(
  "orders.jsonl",
  orders.map((order) => JSON.stringify(order)),
);
write(
  "requests.jsonl",
  withBadLines(
    requests.map((request) => JSON.stringify(request)),
    badLines,
  ),
);
