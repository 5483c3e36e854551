import type { Breach } from "./breach.ts";
import { placeOf } from "./source-file.ts";
import type { SourceFile } from "./source-file.ts";
import { nameOf, walk } from "./syntax-tree.ts";
import type { SyntaxNode } from "./syntax-tree.ts";
import { filesOf } from "./workspace.ts";
import type { Workspace } from "./workspace.ts";

/** What one reads at once, and what one reviews at once. */
const FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 70;

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** ARCH-09: files and functions are bounded, tests' and scripts' too. */
export function findLengths(workspace: Workspace): Breach[] {
  const files = [...workspace.members.flatMap(filesOf), ...workspace.scripts];
  return files.flatMap((file) => [...tooLongFile(file), ...tooLongFunctions(file)]);
}

function tooLongFile({ path, lineCount }: SourceFile): Breach[] {
  return lineCount <= FILE_LINES_MAX
    ? []
    : [{ where: path, says: `${lineCount} lines, more than ${FILE_LINES_MAX}` }];
}

function tooLongFunctions(file: SourceFile): Breach[] {
  const breaches: Breach[] = [];
  walk(file.tree, (node, parent) => {
    if (!FUNCTIONS.has(node.type) || isSuite(parent)) return;
    const lines = file.lineAt(node.end) - file.lineAt(node.start) + 1;
    if (lines > FUNCTION_LINES_MAX) {
      breaches.push({
        where: placeOf(file, node.start),
        says: `a function of ${lines} lines, more than ${FUNCTION_LINES_MAX}`,
      });
    }
  });
  return breaches;
}

// The callback of `describe`, `describe.each(…)` and the like is a heading, not a piece of work.
function isSuite(parent: SyntaxNode | undefined): boolean {
  let callee: unknown = parent?.type === "CallExpression" ? parent : undefined;
  while (isCallOrMember(callee)) callee = callee.callee ?? callee.object ?? callee.tag;
  return nameOf(callee) === "describe";
}

function isCallOrMember(value: unknown): value is SyntaxNode {
  const type = typeof value === "object" && value !== null ? Reflect.get(value, "type") : "";
  return ["CallExpression", "MemberExpression", "TaggedTemplateExpression"].includes(type);
}
