import type { Breach } from "./breach.ts";
import { placeOf } from "./source-file.ts";
import type { SourceFile } from "./source-file.ts";
import { isNode, walk } from "./syntax-tree.ts";
import { filesOf } from "./workspace.ts";
import type { Workspace } from "./workspace.ts";

const LATER = /\b(TODO|FIXME|XXX)\b/;
const SILENCED = /@ts-(ignore|nocheck)\b/;
// A test may expect an error, which fails once it is gone; in source nothing watches that.
const EXPECTED = /@ts-expect-error\b/;

/** ARCH-11: no cast through unknown, no silenced compiler, no note for later. */
export function findEscapes(workspace: Workspace): Breach[] {
  const source = workspace.members.flatMap((member) => member.source);
  const files = [...workspace.members.flatMap(filesOf), ...workspace.scripts];
  return [
    ...files.flatMap((file) => [
      ...findComments(file, LATER, "leaves a note for later"),
      ...findComments(file, SILENCED, "silences the compiler"),
    ]),
    ...source.flatMap((file) => [
      ...findComments(file, EXPECTED, "expects a compile error in source"),
      ...findDoubleCasts(file),
    ]),
  ];
}

function findComments(file: SourceFile, pattern: RegExp, says: string): Breach[] {
  return file.comments
    .filter((comment) => pattern.test(comment.text))
    .map((comment) => ({ where: placeOf(file, comment.start), says }));
}

function findDoubleCasts(file: SourceFile): Breach[] {
  const breaches: Breach[] = [];
  walk(file.tree, (node) => {
    if (node.type !== "TSAsExpression" || !isNode(node.expression)) return;
    const { type, typeAnnotation } = node.expression;
    const isUnknown = isNode(typeAnnotation) && typeAnnotation.type === "TSUnknownKeyword";
    if (type === "TSAsExpression" && isUnknown) {
      breaches.push({ where: placeOf(file, node.start), says: "casts through unknown" });
    }
  });
  return breaches;
}
