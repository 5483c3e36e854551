import type { Block, NodePlan } from "./block.ts";
import type { Piece } from "./piece.ts";

/** What a flow is made of: each block, node and piece by its kind. */
export function kindsIn(of: Block): string[] {
  switch (of.is) {
    case "node":
      return nodeKinds(of.node);
    case "loop":
      return [of.is, ...kindsIn(of.body)];
    case "fork":
    case "choice":
      return [of.join ? `${of.is}, joined` : of.is, ...of.of.flatMap(kindsIn)];
    case "sequence":
      return of.of.flatMap(kindsIn);
  }
}

function nodeKinds(node: NodePlan): string[] {
  const kind = `${node.kind} node`;
  switch (node.kind) {
    case "function":
    case "map":
      return [kind, ...pieceKinds(node.of)];
    case "subflow":
      return [kind, ...kindsIn(node.of)];
    default:
      return [kind];
  }
}

function pieceKinds(piece: Piece): string[] {
  switch (piece.do) {
    case "sequence":
      return piece.of.flatMap(pieceKinds);
    case "together":
      return ["ctx, side by side", ...piece.of.flatMap(pieceKinds)];
    case "run":
      return ["ctx.run", ...kindsIn(piece.of)];
    case "call":
      return [`ctx.call ${piece.tool}`];
    default:
      return [`ctx ${piece.do}`];
  }
}
