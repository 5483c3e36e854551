import { parse, type Node } from "acorn";

/** One small change of a source, by its place in the text. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface AnyNode extends Node {
  readonly [part: string]: unknown;
}

const OPERATORS: { readonly [operator: string]: string } = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "&&": "||",
  "||": "&&",
  "??": "&&",
  "&": "|",
  "|": "&",
  "^": "&",
  "<<": ">>",
  ">>": "<<",
  ">>>": "<<",
  in: "!== 0 &&",
};

/** Calls whose strings are for people: another wording is no defect. */
const WORDING =
  /^(?:bare|refuse|refused|.*Error|keyInvalid|altered|describe|limit|unsupported|tooLong|Symbol)$/;

/** The mutants of a source whose types are blanked out, so that places are those of the original. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const found: Mutant[] = [];
  const tree = parse(source, { ecmaVersion: "latest", sourceType: "module", locations: true });
  const add = (
    node: Node,
    kind: string,
    text: string,
    start = node.start,
    end = node.end,
  ): void => {
    found.push({ file, line: node.loc?.start.line ?? 0, kind, start, end, text });
  };
  const visit = (node: AnyNode, wording: boolean): void => {
    mutate(node, source, wording, add);
    const inner = wording || isWording(node);
    for (const [name, part] of Object.entries(node)) {
      if (
        name === "loc" ||
        node.type === "ImportDeclaration" ||
        (node.type === "ExportNamedDeclaration" && node["source"] !== null)
      )
        continue;
      for (const child of Array.isArray(part) ? (part as unknown[]) : [part]) {
        if (isNode(child)) visit(child, inner);
      }
    }
  };
  visit(tree as Node as AnyNode, false);
  return found;
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && typeof (value as AnyNode).type === "string";
}

function isWording(node: AnyNode): boolean {
  if (node.type !== "CallExpression" && node.type !== "NewExpression") return false;
  const callee = node["callee"] as AnyNode;
  const name =
    (callee["property"] as { name?: string } | undefined)?.name ??
    (callee["name"] as string | undefined);
  return name !== undefined && WORDING.test(name);
}

type Add = (node: Node, kind: string, text: string, start?: number, end?: number) => void;

function mutate(node: AnyNode, source: string, wording: boolean, add: Add): void {
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression": {
      const left = node["left"] as Node;
      const right = node["right"] as Node;
      const operator = node["operator"] as string;
      const other = OPERATORS[operator];
      if (other === undefined || wording) return;
      const between = source.slice(left.end, right.start);
      const at = left.end + between.indexOf(operator);
      add(node, `${operator} to ${other}`, other, at, at + operator.length);
      return;
    }
    case "UnaryExpression":
      if (node["operator"] === "!") add(node, "without !", "", node.start, node.start + 1);
      return;
    case "UpdateExpression": {
      const prefix = node["prefix"] === true;
      const at = prefix ? node.start : node.end - 2;
      add(node, "step back", node["operator"] === "++" ? "--" : "++", at, at + 2);
      return;
    }
    case "IfStatement":
    case "WhileStatement":
    case "ConditionalExpression": {
      const test = node["test"] as Node;
      add(test, "never", "(false)");
      if (node.type !== "WhileStatement") add(test, "always", "(true)");
      return;
    }
    case "Literal":
      if (!wording) literal(node, add);
      return;
    case "BlockStatement":
      if ((node["body"] as unknown[]).length > 0) add(node, "empty block", "{}");
      return;
    case "ExpressionStatement":
      add(node, "without statement", ";");
      return;
    case "ReturnStatement":
      if (!returnsNothing(node)) add(node, "return nothing", "return;");
      return;
    default:
  }
}

function returnsNothing(node: AnyNode): boolean {
  const argument = node["argument"] as { name?: string } | null;
  return argument === null || argument.name === "undefined";
}

function literal(node: AnyNode, add: Add): void {
  const { value } = node as { value?: unknown };
  if (typeof value === "boolean") add(node, "other boolean", String(!value));
  else if (typeof value === "number") add(node, "number + 1", `${value + 1}`);
  else if (typeof value === "string") add(node, "other string", value === "" ? '"mutated"' : '""');
}
