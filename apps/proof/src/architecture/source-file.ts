import { parseSync } from "oxc-parser";

import { importsOf } from "./imports.ts";
import type { Import } from "./imports.ts";
import { isNode } from "./syntax-tree.ts";
import type { SyntaxNode } from "./syntax-tree.ts";

/** A TypeScript file, read once for all rules. */
export interface SourceFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  readonly tree: SyntaxNode;
  readonly comments: readonly { readonly text: string; readonly start: number }[];
  readonly imports: readonly Import[];
  readonly lineCount: number;
  /** The line of an offset, from 1. */
  readonly lineAt: (offset: number) => number;
}

/** @throws Error that names the file when it does not parse: a rule must not pass by not looking. */
export function parseSource(path: string, text: string): SourceFile {
  const { program, comments, errors } = parseSync(path, text, { preserveParens: false });
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} does not parse: ${error.message}`);
  if (!isNode(program)) throw new Error(`${path} has no tree`);
  const lineStarts = [0, ...Array.from(text.matchAll(/\n/g), (match) => match.index + 1)];
  return {
    path,
    tree: program,
    comments: comments.map(({ value, start }) => ({ text: value, start })),
    imports: importsOf(program),
    lineCount: text.endsWith("\n") ? lineStarts.length - 1 : lineStarts.length,
    lineAt: (offset) => lineStarts.findLastIndex((start) => start <= offset) + 1,
  };
}

/** `path:line`, for a breach. */
export function placeOf(file: SourceFile, offset: number): string {
  return `${file.path}:${file.lineAt(offset)}`;
}
