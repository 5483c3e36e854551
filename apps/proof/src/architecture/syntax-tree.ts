/** A node of the parser's tree, as far as the rules look at one. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export function isNode(value: unknown): value is SyntaxNode {
  return (
    typeof value === "object" && value !== null && typeof Reflect.get(value, "type") === "string"
  );
}

/** Visits a node and everything below it, parents first. `parent` is undefined at the top. */
export function walk(
  node: SyntaxNode,
  enter: (node: SyntaxNode, parent: SyntaxNode | undefined) => void,
  parent?: SyntaxNode,
): void {
  enter(node, parent);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, enter, node);
    }
  }
}

/** The name of an identifier or the text of a string literal, else undefined. */
export function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "Identifier" && typeof node.name === "string") return node.name;
  return node.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}

/** The child nodes of a list field. */
export function nodesIn(value: unknown): SyntaxNode[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}
