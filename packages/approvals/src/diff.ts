import { digest } from "@holdpoint/seal";

/** One place where two sets of arguments differ. A side that has nothing there has no member. */
export interface ArgumentChange {
  /** `cents`, `lines[2].sku`; empty for the whole. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Where two sets of arguments differ, in the order of the first's keys, then the second's new ones (APR-16). */
export function diffArguments(before: unknown, after: unknown): readonly ArgumentChange[] {
  const changes: ArgumentChange[] = [];
  walk("", before, after, changes);
  return changes;
}

function walk(path: string, before: unknown, after: unknown, changes: ArgumentChange[]): void {
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    for (let at = 0; at < length; at += 1) member(`${path}[${at}]`, at, before, after, changes);
    return;
  }
  if (isPlain(before) && isPlain(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      member(path === "" ? key : `${path}.${key}`, key, before, after, changes);
    }
    return;
  }
  if (digest(before) !== digest(after)) changes.push({ path, before, after });
}

function member(
  path: string,
  key: string | number,
  before: object,
  after: object,
  changes: ArgumentChange[],
): void {
  const [had, has] = [Object.hasOwn(before, key), Object.hasOwn(after, key)];
  const [left, right]: readonly unknown[] = [Reflect.get(before, key), Reflect.get(after, key)];
  if (had && has) walk(path, left, right, changes);
  else if (had) changes.push({ path, before: left });
  else changes.push({ path, after: right });
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
