import { charCodeAt, jsonParse, setAdd, setHas, sliceText } from "../platform.ts";
import { formatPath, SELF, type Segment } from "./path.ts";

/**
 * The path of the end of a text's beginning, and of the first repeated name in it: only walked when a text is
 * refused, so that the pass that every text takes can do without.
 */
export function locate(text: string): { path: string; repeated: string | undefined } {
  const path: Segment[] = [];
  const names: (Set<string> | undefined)[] = [];
  let level = 0;
  let repeated: string | undefined;
  let i = 0;
  while (i < text.length) {
    const code = charCodeAt(text, i);
    if (code === 34) {
      const end = endOfString(text, i);
      const seen = level === 0 ? undefined : names[level - 1];
      if (seen !== undefined && charCodeAt(text, end) === 58) {
        const name = spelledName(sliceText(text, i, end));
        path[level - 1] = name;
        if (setHas(seen, name)) repeated ??= formatPath(path, 0, level);
        setAdd(seen, name);
      }
      i = end;
      continue;
    }
    if (code === 123 || code === 91) {
      path[level] = code === 91 ? 0 : SELF;
      names[level] = code === 123 ? new Set() : undefined;
      level++;
    } else if (code === 125 || code === 93) {
      // The scan has stopped before more is closed than was opened.
      level--;
    } else if (code === 44 && level > 0) {
      const last = path[level - 1];
      if (typeof last === "number") path[level - 1] = last + 1;
    }
    i++;
  }
  return { path: formatPath(path, 0, level), repeated };
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length) {
    const code = charCodeAt(text, i);
    if (code === 34) break;
    i += code === 92 ? 2 : 1;
  }
  return i + 1;
}

function spelledName(quoted: string): string {
  try {
    return `${jsonParse(quoted) as string}`;
  } catch {
    return quoted;
  }
}
