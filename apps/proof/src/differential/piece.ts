/**
 * A piece of a node's code, as data: what can be asked for, one after the other and together. A kind is a member of the union,
 * an arbitrary and a case.
 *
 * Left out on purpose is what no two runs have to agree on: who wins a race, and which of several failures that happen at the
 * same time is thrown. So what runs together catches.
 */
import type { NodeContext } from "@holdpoint/flow";
import fc from "fast-check";

import type { Block } from "./block.ts";
import type { Generated } from "./build.ts";
import { word, wordOn } from "./people.ts";
import { markIn, type ToolName, type Tools } from "./tools.ts";
import type { Place, Trace } from "./trace.ts";

export type Piece =
  | {
      readonly do: "call";
      readonly tool: ToolName;
      readonly n: number;
      readonly slow: number;
      readonly caught: boolean;
    }
  | { readonly do: "step"; readonly n: number }
  /** A number by chance, and a call with it. */
  | { readonly do: "dice"; readonly n: number; readonly asks: boolean }
  /** The time, which a run that slept has another of, and a call with it. */
  | { readonly do: "now"; readonly n: number }
  | { readonly do: "sleep"; readonly ms: number }
  /** A question that is no approval. */
  | { readonly do: "ask"; readonly n: number }
  /** A call that nobody waits for. */
  | { readonly do: "float"; readonly n: number; readonly asks: boolean }
  /** A run of another flow. */
  | { readonly do: "run"; readonly of: Block }
  | { readonly do: "sequence"; readonly of: readonly Piece[] }
  | { readonly do: "together"; readonly of: readonly Piece[] };

const toolName = fc.oneof(
  { weight: 6, arbitrary: fc.constant<ToolName>("gated") },
  { weight: 4, arbitrary: fc.constant<ToolName>("free") },
  { weight: 1, arbitrary: fc.constant<ToolName>("failing") },
  { weight: 1, arbitrary: fc.constant<ToolName>("flaky") },
);

const leaf: fc.Arbitrary<Piece> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("call" as const),
      tool: toolName,
      n: fc.nat(2),
      slow: fc.nat(2),
      caught: fc.integer({ min: 0, max: 9 }).map((luck) => luck > 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("step" as const), n: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("dice" as const), n: fc.nat(2), asks: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("now" as const), n: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("sleep" as const),
      ms: fc.constantFrom(1, 1_000, 1e10),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("ask" as const), n: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("float" as const), n: fc.nat(2), asks: fc.boolean() }),
  },
);

/** What a node's code does; `within`: the flows that it may run. */
export function programs(within: fc.Arbitrary<Block> | undefined): fc.Arbitrary<Piece> {
  const run = within && fc.record({ do: fc.constant("run" as const), of: within });
  const single = run === undefined ? leaf : fc.oneof({ weight: 6, arbitrary: leaf }, run);
  return fc.letrec<{ piece: Piece }>((tie) => ({
    piece: fc.oneof(
      { maxDepth: 2, depthSize: "small", withCrossShrink: true },
      single,
      fc.record({
        do: fc.constant("sequence" as const),
        of: fc.array(tie("piece"), { minLength: 1, maxLength: 3 }),
      }),
      fc.record({
        do: fc.constant("together" as const),
        of: fc.array(tie("piece"), { minLength: 2, maxLength: 3 }),
      }),
    ),
  })).piece;
}

/** The nested runs of a program. */
export function runsIn(piece: Piece): Extract<Piece, { do: "run" }>[] {
  if (piece.do === "run") return [piece];
  return piece.do === "sequence" || piece.do === "together" ? piece.of.flatMap(runsIn) : [];
}

/** The place of what nothing comes after. */
const floating: Place = ["f"];

/** Where a piece is performed. */
export interface Scene {
  /** Down to here. */
  readonly place: Place;
  /** Added to what calls are about: the item of a map. */
  readonly shift: number;
  /** The flows that pieces run. */
  readonly flows: ReadonlyMap<Piece, Generated>;
  readonly ctx: NodeContext;
  readonly tools: Tools;
  readonly trace: Trace;
  /** In a run that never pauses, answers are there at once. */
  readonly inline: boolean;
  /** Within what runs together, where every failure is caught. */
  readonly together?: boolean;
}

/** Performs a piece, and says what it came to. */
export async function perform(piece: Piece, scene: Scene): Promise<string> {
  const { ctx, tools, shift } = scene;
  switch (piece.do) {
    case "call": {
      const { tool, n, slow, caught } = piece;
      return called(scene, () => ctx.call(tools[tool], { n: n + shift, slow }), caught);
    }
    case "step":
      return ctx.step(`step${piece.n}`, () => `step${piece.n}`);
    case "dice": {
      const tool = piece.asks ? tools.gated : tools.free;
      const dice = ctx.random();
      return called(scene, () => ctx.call(tool, { n: piece.n + shift, slow: 0, dice }), true);
    }
    case "ask":
      return scene.inline ? wordOn(ctx.node, piece.n) : ctx.ask(word, { n: piece.n });
    case "now":
      return called(
        scene,
        () => ctx.call(tools.free, { n: piece.n + shift, slow: 0, dice: ctx.now().getTime() }),
        true,
      );
    case "sleep":
      if (!scene.inline) await ctx.sleep(piece.ms);
      return "slept";
    case "float":
      void called(
        { ...scene, place: floating },
        () => ctx.call(piece.asks ? tools.gated : tools.free, { n: piece.n + shift, slow: 1 }),
        true,
      );
      return "";
    case "run":
      return nested(scene, () => ctx.run(scene.flows.get(piece)!, { n: piece.of.is.length }));
    case "sequence": {
      const parts: string[] = [];
      for (const [index, part] of piece.of.entries())
        parts.push(await perform(part, { ...scene, place: [...scene.place, `s${index}`] }));
      return parts.join("+");
    }
    case "together": {
      const all = piece.of.map((part, index) =>
        perform(part, {
          ...scene,
          together: true,
          place: [...scene.place, `t${index}`],
          shift: branchShift(scene.shift, index),
        }),
      );
      return (await Promise.all(all)).join("|");
    }
  }
}

/**
 * Equal calls of branches side by side are numbered by who comes first, which no two runs have to agree on: each branch calls
 * about numbers of its own. Within a branch there are equal ones.
 */
function branchShift(shift: number, branch: number): number {
  return (shift + 8) * (4 * 8) + 8 * (branch + 1);
}

/** What a nested run came to; where things run together, its failure too. */
async function nested(
  { together = false }: Scene,
  run: () => Promise<{ readonly log: readonly string[] }>,
): Promise<string> {
  try {
    return `(${(await run()).log.join(" ")})`;
  } catch (error) {
    if (!together) throw error;
    return "(failed)"; // of several failures of a round, which one it is called by may differ
  }
}

/** Makes a call, and notes where in the program it stands. */
async function called(
  { trace, place, together = false }: Scene,
  call: () => Promise<{ got: string }>,
  caught: boolean,
): Promise<string> {
  try {
    const { got } = await call();
    trace.places.set(markIn(got), place);
    return got;
  } catch (error) {
    const { name, message } = error as Error;
    trace.places.set(markIn(message), place);
    if (caught || together) return `${name}: ${message}`;
    throw error;
  }
}
