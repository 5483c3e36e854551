import { stripTypeScriptTypes } from "node:module";

import { parseAst } from "vitest/node";

/** One small change to a source file that some test has to notice. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly what: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const swaps: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "+": "-",
  "-": "+",
  "*": "/",
  "&&": "||",
  "||": "&&",
  "??": "&&",
};

/**
 * Every mutant of a source, in its order. Types are blanked out first, so positions are those of
 * the file.
 */
export function mutantsOf(file: string, source: string): readonly Mutant[] {
  const found: Mutant[] = [];
  const add = (node: Pick<Node, "start" | "end">, what: string, text: string): void => {
    const line = source.slice(0, node.start).split("\n").length;
    found.push({ file, line, what, start: node.start, end: node.end, text });
  };
  const script = stripTypeScriptTypes(source, { mode: "strip" });
  walk(parseAst(script) as unknown as Node, (node) => mutate(node, source, add));
  return found.toSorted((a, b) => a.start - b.start || a.end - b.end);
}

type Add = (node: Pick<Node, "start" | "end">, what: string, text: string) => void;

function mutate(node: Node, source: string, add: Add): void {
  const textOf = (part: unknown): string => source.slice((part as Node).start, (part as Node).end);
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression": {
      const swap = swaps[node["operator"] as string];
      const [left, right] = [node["left"] as Node, node["right"] as Node];
      if (swap === undefined) return;
      const between = source.slice(left.end, right.start);
      const changed = between.replace(node["operator"] as string, swap);
      add({ start: left.end, end: right.start }, `${String(node["operator"])} → ${swap}`, changed);
      return;
    }
    case "IfStatement":
    case "ConditionalExpression":
      add(node["test"] as Node, "test → true", "true");
      add(node["test"] as Node, "test → false", "false");
      return;
    case "UnaryExpression":
      if (node["operator"] === "!") add(node, "! dropped", textOf(node["argument"]));
      return;
    case "Literal":
      if (typeof node["value"] === "boolean") add(node, "boolean flipped", String(!node["value"]));
      if (typeof node["value"] === "number") add(node, "number + 1", String(node["value"] + 1));
      return;
    case "ReturnStatement":
      // Nothing instead of `undefined` is no change, and instead of `false` none that callers see.
      if (node["argument"] && !["undefined", "false"].includes(textOf(node["argument"]))) {
        add(node, "return of nothing", "return undefined as never;");
      }
      return;
    case "ExpressionStatement": {
      const type = (node["expression"] as Node).type;
      if (type === "CallExpression" || type === "AssignmentExpression")
        add(node, "statement dropped", ";");
      return;
    }
    default:
  }
}

function walk(node: Node, visit: (node: Node) => void): void {
  if (node.type === "ImportDeclaration") return;
  visit(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === "object" && child !== null && "type" in child)
        walk(child as Node, visit);
    }
  }
}
