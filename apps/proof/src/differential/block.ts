/**
 * The shape of a flow, as data: nodes one after the other, side by side, by choice and in loops. A kind of node is a member of
 * `NodePlan`, an arbitrary here and a case in `build.ts`.
 */
import fc from "fast-check";

import { programs, type Piece } from "./piece.ts";

/** What one node is. */
export type NodePlan =
  | {
      readonly kind: "function";
      readonly of: Piece;
      /** Executions in all. */
      readonly attempts: number;
      /** Whether a failure goes on along an edge, or ends the run. */
      readonly mends: boolean;
    }
  | {
      readonly kind: "gate";
      readonly when: "always" | "never" | "odd";
      readonly edits: boolean;
      /** Whether a denial goes on along an edge, or fails. */
      readonly denied: boolean;
      readonly mends: boolean;
    }
  | {
      readonly kind: "call";
      readonly tool: "free" | "gated" | "failing";
      readonly n: number;
      readonly static: boolean;
      readonly mends: boolean;
    }
  | (MapPlan & { readonly kind: "map"; readonly of: Piece })
  | (MapPlan & { readonly kind: "map-call"; readonly tool: "free" | "gated" | "failing" })
  | { readonly kind: "subflow"; readonly of: Block; readonly mends: boolean };

interface MapPlan {
  readonly items: number;
  readonly concurrency: number;
  readonly skips: boolean;
  readonly stops: boolean;
  readonly mends: boolean;
}

export type Block =
  | { readonly is: "node"; readonly node: NodePlan }
  | { readonly is: "sequence"; readonly of: readonly Block[] }
  /** Branches that come together in a node, which joins them or runs with each. */
  | { readonly is: "fork"; readonly of: readonly Block[]; readonly join: boolean }
  /** Some of the branches, by the state. */
  | { readonly is: "choice"; readonly of: readonly Block[]; readonly join: boolean }
  | { readonly is: "loop"; readonly body: Block; readonly times: number };

/** Mostly true: a run that fails early shows little. */
const mostly = fc.integer({ min: 0, max: 5 }).map((luck) => luck > 0);

const gateNode: fc.Arbitrary<NodePlan> = fc.record({
  kind: fc.constant("gate" as const),
  when: fc.constantFrom("always", "always", "always", "odd", "never"),
  edits: fc.boolean(),
  denied: mostly,
  mends: mostly,
});
const callNode: fc.Arbitrary<NodePlan> = fc.record({
  kind: fc.constant("call" as const),
  tool: fc.constantFrom("gated", "gated", "gated", "free", "failing"),
  n: fc.nat(3),
  static: fc.boolean(),
  mends: mostly,
});

const mapPlan = {
  items: fc.nat(3),
  concurrency: fc.integer({ min: 1, max: 3 }),
  skips: fc.boolean(),
  stops: fc.boolean(),
  mends: mostly,
};
const mapCallNode: fc.Arbitrary<NodePlan> = fc.record({
  kind: fc.constant("map-call" as const),
  tool: fc.constantFrom("gated", "gated", "gated", "free", "failing"),
  ...mapPlan,
});

/** Nodes; `within`: the flows that they may run. */
function nodes(within: fc.Arbitrary<Block> | undefined): fc.Arbitrary<Block> {
  const of = programs(within);
  const kinds: fc.WeightedArbitrary<NodePlan>[] = [
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("function" as const),
        of,
        attempts: fc.integer({ min: 1, max: 2 }),
        mends: mostly,
      }),
    },
    { weight: 3, arbitrary: gateNode },
    { weight: 3, arbitrary: callNode },
    { weight: 1, arbitrary: mapCallNode },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("map" as const), of, ...mapPlan }) },
  ];
  if (within !== undefined) {
    const subflow = { kind: fc.constant("subflow" as const), of: within, mends: mostly };
    kinds.push({ weight: 1, arbitrary: fc.record(subflow) });
  }
  return fc.oneof(...kinds).map((node) => ({ is: "node" as const, node }));
}

/** Shapes of flows that nest others so many levels deep. */
function blocks(levels: number, maxDepth: number): fc.Arbitrary<Block> {
  const node = nodes(levels === 0 ? undefined : blocks(levels - 1, 1));
  return fc.letrec<{ block: Block }>((tie) => ({
    block: fc.oneof(
      { maxDepth, depthSize: "small", withCrossShrink: true },
      node,
      fc.record({
        is: fc.constant("sequence" as const),
        of: fc.array(tie("block"), { minLength: 2, maxLength: 3 }),
      }),
      fc.record({
        is: fc.constant("fork" as const),
        of: fc.array(tie("block"), { minLength: 2, maxLength: 3 }),
        join: fc.boolean(),
      }),
      fc.record({
        is: fc.constant("choice" as const),
        of: fc.array(tie("block"), { minLength: 2, maxLength: 2 }),
        join: fc.boolean(),
      }),
      fc.record({
        is: fc.constant("loop" as const),
        body: tie("block"),
        times: fc.integer({ min: 1, max: 2 }),
      }),
    ),
  })).block;
}

/** A flow of a dozen nodes or so, some of which run flows of their own. */
export const block: fc.Arbitrary<Block> = blocks(2, 3);
