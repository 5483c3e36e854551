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
} as const;

/** A library under measure: each member makes what one repetition calls. */
export interface Adapter {
  readonly name: string;
  linear(nodes: number): () => Promise<number>;
  approval(work: (typeof workloads)["B2"]): () => Promise<boolean>;
}
