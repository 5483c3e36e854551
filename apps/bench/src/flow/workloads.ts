/** What is measured, as data: every library gets the same. */
export const workloads = {
  /** A linear flow of trivial nodes, in memory, that never pauses. */
  B1: { nodes: 20 },
  /** Pause, decide, resume: one prepared call that a person approves; the state leaves the process in between. */
  B2: {
    state: {
      id: "A-17",
      amount: 5,
      items: Array.from({ length: 10 }, (_, index) => ({ sku: `sku-${index}`, n: index })),
    },
    execute: (_call: { id: string; amount: number }): { ok: boolean } => ({ ok: true }),
  },
  /** One node with large tool results, then an approval; the state leaves the process in between. */
  B5: {
    results: 200,
    /** Some 10 KB. */
    fetch: async (n: number): Promise<Fetched> => ({
      rows: Array.from({ length: 100 }, (_, row) => ({
        id: n * 100 + row,
        text: `row ${row} of result ${n}, with as much text as such a row has: ${"abc".repeat(8)}`,
      })),
    }),
  },
  /** A tool call for each item of a list, then an approval. */
  B6: { items: 1_000, concurrency: 16, act: async (n: number): Promise<number> => n + 1 },
} as const;

/** B2 with what is told of it; `decided` is called right before a decision is given, and `execute` is the first that comes of it. */
export type ApprovalWork = (typeof workloads)["B2"] & { readonly decided?: () => void };

export interface Fetched {
  readonly rows: readonly { readonly id: number; readonly text: string }[];
}

/** A library under measure: each member makes what one repetition calls. */
export interface Adapter {
  readonly name: string;
  linear(nodes: number): () => Promise<number>;
  approval(work: (typeof workloads)["B2"]): () => Promise<boolean>;
  /** Answers the size of what left the process, in characters. */
  results?(work: (typeof workloads)["B5"]): () => Promise<number>;
  map?(work: (typeof workloads)["B6"]): () => Promise<number>;
}
