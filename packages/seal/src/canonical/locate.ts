import { formatPath, type Segment } from "./path.ts";

/**
 * The path of the end of a text's beginning, and of the first repeated name in it: only walked when a text is
 * refused, so that the pass that every text takes can do without.
 */
export function locate(text: string): { path: string; repeated: string | undefined } {
  const path: Segment[] = [];
  const names: (Set<string> | undefined)[] = [];
  let repeated: string | undefined;
  let i = 0;
  while (i < text.length) {
    const character = text[i]!;
    if (character === '"') {
      const end = endOfString(text, i);
      if (text[end] === ":") {
        const name = spelledName(text.slice(i, end));
        const seen = names[names.length - 1];
        path[path.length - 1] = name;
        if (seen?.has(name) === true) repeated ??= formatPath(path);
        seen?.add(name);
      }
      i = end;
      continue;
    }
    if (character === "{" || character === "[") {
      path.push(character === "[" ? 0 : { place: "" });
      names.push(character === "{" ? new Set() : undefined);
    } else if (character === "}" || character === "]") {
      path.pop();
      names.pop();
    } else if (character === ",") {
      const last = path[path.length - 1];
      if (typeof last === "number") path[path.length - 1] = last + 1;
    }
    i++;
  }
  const named = path.filter((segment) => typeof segment !== "object");
  return { path: formatPath(named), repeated };
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === "\\" ? 2 : 1;
  return i + 1;
}

function spelledName(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
