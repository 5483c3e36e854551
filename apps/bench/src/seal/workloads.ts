/** The values that sealing is measured on: typical states, made from a fixed seed. */
export interface Workload {
  readonly name: string;
  readonly value: unknown;
}

/** A small generator with a fixed seed, so that each run measures the same bytes. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state % below;
  };
}

const WORDS =
  "refund order customer card shipped warehouse delayed parcel address confirmed invoice paid partly " +
  "returned damaged replacement agreed by phone on Monday morning please check the amount again before release";
const words = WORDS.split(" ");

function sentence(next: (below: number) => number, count: number): string {
  return Array.from({ length: count }, () => words[next(words.length)]).join(" ");
}

function order(next: (below: number) => number, index: number): object {
  return {
    id: `ord_${(index * 7919).toString(36).padStart(8, "0")}`,
    status: ["open", "paid", "refunded"][next(3)],
    totalCents: next(500_000),
    express: next(2) === 0,
    customer: {
      name: sentence(next, 2),
      email: `${words[next(words.length)]}.${index}@example.com`,
      address: {
        street: sentence(next, 3),
        city: words[next(words.length)],
        postcode: String(10_000 + next(90_000)),
      },
    },
    lines: Array.from({ length: 1 + next(4) }, (_, line) => ({
      sku: `SKU-${next(100_000)}`,
      title: sentence(next, 4),
      quantity: 1 + next(5),
      unitPrice: next(100_000) / 100,
      discount: line === 0 ? null : next(30),
    })),
    history: Array.from({ length: 1 + next(3) }, () => ({
      at: new Date(1_790_000_000_000 + next(1_000_000_000)).toISOString(),
      actor: words[next(words.length)],
      comment: sentence(next, 12),
    })),
  };
}

/** Orders until their JSON reaches `bytes`. */
export function nested(bytes: number): object {
  const next = seeded(17);
  const orders: object[] = [];
  for (let size = 0, index = 0; size < bytes; index++) {
    const made = order(next, index);
    size += JSON.stringify(made).length + 1;
    orders.push(made);
  }
  return { run: "run_0001", orders };
}

/** Documents of 20 KB each, as a model's answers or fetched pages would be. */
export function strings(bytes: number): object {
  const next = seeded(23);
  const pages: string[] = [];
  for (let size = 0; size < bytes; size += pages[pages.length - 1]!.length) {
    pages.push(`${sentence(next, 3000)}.\n`);
  }
  return { run: "run_0001", pages };
}

/** Small members only: where the walk weighs most beside the native writer. */
export function numbers(bytes: number): object {
  const next = seeded(29);
  const points: object[] = [];
  for (let i = 0; i * 40 < bytes; i++)
    points.push({ x: next(1000), y: next(1000), on: i % 2 === 0, w: next(9) / 8 });
  return { points };
}

export const WORKLOADS: readonly Workload[] = [
  {
    name: "small 100 B",
    value: {
      id: "ord_1",
      cents: 4200,
      paid: true,
      note: "call back",
      tags: ["vip"],
      to: "dana@example.com",
    },
  },
  { name: "nested 10 KB", value: nested(10_000) },
  { name: "nested 700 KB", value: nested(700_000) },
  { name: "strings 2 MB", value: strings(2_000_000) },
];
