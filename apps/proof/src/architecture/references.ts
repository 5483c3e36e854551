import type { SourceFile } from "./source-file.ts";
import { isNode, nameOf, nodesIn, walk } from "./syntax-tree.ts";
import type { SyntaxNode } from "./syntax-tree.ts";

/** A use of something that the file did not make itself: a global, or a part of a builtin module. */
export interface Reference {
  /** Dotted: `Date.now`, `setTimeout`, `node:crypto.randomUUID`; `new Date()` and `Date()`. */
  readonly name: string;
  readonly start: number;
}

const GLOBAL_OBJECTS = new Set(["globalThis", "window", "self", "global"]);
const BINDING_NODES = new Set(["VariableDeclarator", "ClassDeclaration", "CatchClause"]);

/**
 * Finds the outer names that a file uses. Names that it binds anywhere (a parameter, a variable)
 * count as its own everywhere: what is passed in is what these rules ask for.
 */
export function referencesOf(file: SourceFile): Reference[] {
  const outer = namesOfBuiltins(file);
  const own = boundNames(file.tree);
  const references: Reference[] = importedNames(file);
  walk(file.tree, (node, parent) => {
    for (const name of namesAt(node, parent)) {
      const full = resolve(name, outer, own);
      if (full !== undefined) references.push({ name: full, start: node.start });
    }
  });
  return references;
}

function namesAt(node: SyntaxNode, parent: SyntaxNode | undefined): string[] {
  switch (node.type) {
    case "Identifier":
      return isUse(node, parent) ? [String(node.name)] : [];
    case "MemberExpression":
      return [dottedName(node)].filter((name) => name !== undefined);
    case "NewExpression":
    case "CallExpression":
      return nameOf(node.callee) === "Date" ? dateAt(node) : [];
    case "VariableDeclarator":
      return destructuredNames(node);
    default:
      return [];
  }
}

// `Date()` always tells the time; `new Date(value)` reads the value that it is given.
function dateAt(node: SyntaxNode): string[] {
  if (node.type === "CallExpression") return ["Date()"];
  return nodesIn(node.arguments).length === 0 ? ["new Date()"] : [];
}

/** `crypto.randomUUID` of a chain of plain members, else undefined. */
function dottedName(node: unknown): string | undefined {
  if (!isNode(node) || node.type !== "MemberExpression") return nameOf(node);
  const object = isNode(node.object) && node.object.type === "Literal" ? undefined : node.object;
  const left = dottedName(object);
  const isPlain =
    node.computed !== true || (isNode(node.property) && node.property.type === "Literal");
  const right = isPlain ? nameOf(node.property) : undefined;
  return left === undefined || right === undefined ? undefined : `${left}.${right}`;
}

/** `Math.random` of `const { random } = Math`. */
function destructuredNames(node: SyntaxNode): string[] {
  const from = dottedName(node.init);
  if (from === undefined || !isNode(node.id) || node.id.type !== "ObjectPattern") return [];
  const keys = nodesIn(node.id.properties).map((property) => nameOf(property.key));
  return keys.filter((key) => key !== undefined).map((key) => `${from}.${key}`);
}

// An identifier is also the spelling of a key, of a member, or of a type's name.
function isUse(node: SyntaxNode, parent: SyntaxNode | undefined): boolean {
  if (parent === undefined) return true;
  if (parent.type === "MemberExpression") return parent.object === node || parent.computed === true;
  if (parent.key === node) return parent.computed === true;
  if (parent.type.startsWith("TS")) {
    return ["TSAsExpression", "TSNonNullExpression", "TSSatisfiesExpression"].includes(parent.type);
  }
  return !/^(Import|Export)\w*Specifier$/.test(parent.type);
}

function resolve(
  name: string,
  outer: ReadonlyMap<string, string>,
  own: ReadonlySet<string>,
): string | undefined {
  const parts = name.split(".");
  if (parts.length > 1 && GLOBAL_OBJECTS.has(parts[0] ?? "")) return parts.slice(1).join(".");
  const [first = "", ...rest] = parts;
  const builtin = outer.get(first);
  if (builtin !== undefined) return [builtin, ...rest].join(".");
  return own.has(first) ? undefined : name;
}

/** Local names of whole builtin modules: `import process from "node:process"`. */
function namesOfBuiltins(file: SourceFile): Map<string, string> {
  const names = new Map<string, string>();
  for (const { specifier, typeOnly, names: imported } of file.imports) {
    for (const [local, name] of imported) {
      if (!typeOnly && (name === "*" || name === "default")) names.set(local, specifier);
    }
  }
  return names;
}

function importedNames(file: SourceFile): Reference[] {
  return file.imports
    .filter((each) => !each.typeOnly)
    .flatMap(({ specifier, names, start }) => [
      { name: specifier, start },
      ...[...names.values()].map((name) => ({ name: `${specifier}.${name}`, start })),
    ]);
}

function boundNames(tree: SyntaxNode): Set<string> {
  const names = new Set<string>();
  walk(tree, (node) => {
    if (BINDING_NODES.has(node.type)) addPattern(node.id ?? node.param, names);
    if (/Function|^TSDeclareFunction$/.test(node.type)) {
      addPattern(node.id, names);
      for (const param of nodesIn(node.params)) addPattern(param, names);
    }
    if (/^Import\w*Specifier$/.test(node.type)) addPattern(node.local, names);
  });
  return names;
}

function addPattern(pattern: unknown, names: Set<string>): void {
  if (!isNode(pattern)) return;
  if (pattern.type === "Identifier") names.add(String(pattern.name));
  const inner = [pattern.left, pattern.argument, pattern.value];
  const lists = [...nodesIn(pattern.properties), ...nodesIn(pattern.elements)];
  if (/Pattern|Element|^Property$/.test(pattern.type)) {
    for (const each of [...inner, ...lists]) addPattern(each, names);
  }
}
