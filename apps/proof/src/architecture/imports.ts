import { isNode, nameOf, nodesIn, walk } from "./syntax-tree.ts";
import type { SyntaxNode } from "./syntax-tree.ts";

/** One place that names another module: an import, a re-export, an `import()` or an import type. */
export interface Import {
  readonly specifier: string;
  /**
   * Nothing of it is left at run time. `import { type A }` is *not* such an import: under
   * `verbatimModuleSyntax` it stays as `import {}`, which loads the module.
   */
  readonly typeOnly: boolean;
  readonly start: number;
  /** Local name → the name in the module: `*` for the namespace, `default` for the default. */
  readonly names: ReadonlyMap<string, string>;
}

export function importsOf(tree: SyntaxNode): Import[] {
  const imports: Import[] = [];
  walk(tree, (node) => {
    const found = importAt(node);
    if (found !== undefined) imports.push(found);
  });
  return imports;
}

function importAt(node: SyntaxNode): Import | undefined {
  const specifier = nameOf(node.source);
  if (specifier === undefined) return undefined;
  const { start } = node;
  switch (node.type) {
    case "ImportDeclaration":
      return { specifier, start, typeOnly: node.importKind === "type", names: localNames(node) };
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
      return { specifier, start, typeOnly: node.exportKind === "type", names: exportedNames(node) };
    case "ImportExpression":
      return { specifier, start, typeOnly: false, names: new Map() };
    case "TSImportType":
      return { specifier, start, typeOnly: true, names: new Map() };
    default:
      return undefined;
  }
}

function localNames(node: SyntaxNode): Map<string, string> {
  const names = new Map<string, string>();
  for (const each of nodesIn(node.specifiers)) {
    const local = nameOf(each.local);
    if (local === undefined) continue;
    if (each.type === "ImportSpecifier") names.set(local, nameOf(each.imported) ?? local);
    else names.set(local, each.type === "ImportNamespaceSpecifier" ? "*" : "default");
  }
  return names;
}

function exportedNames(node: SyntaxNode): Map<string, string> {
  const names = nodesIn(node.specifiers).map((each) => nameOf(each.local));
  return new Map(names.filter((name) => name !== undefined).map((name) => [name, name]));
}

/** The package of a bare specifier (`@a/b` of `@a/b/c.js`); undefined for a path or a builtin. */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith(".") || specifier.startsWith("/") || specifier.startsWith("node:")) {
    return undefined;
  }
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

/** Tells whether a re-export takes everything: `export * from`. */
export function isExportAll(node: SyntaxNode): boolean {
  return node.type === "ExportAllDeclaration" && !isNode(node.exported);
}
