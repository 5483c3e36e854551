/**
 * In which order two runs of one flow have to do what they do (FLOW-62): in order within each execution, and between visits of
 * one flow of which one began after the other ended. Calls that were under way at the same time may swap.
 */
import type { Effect, Place, Trace } from "./trace.ts";

/** Where `held` did something before what it comes after, as sentences. */
export function disorder(straight: Trace, held: Trace): string[] {
  return [...withinExecutions(straight, held), ...betweenVisits(straight, held)];
}

/** Where the code makes one call after it has the other's outcome, the effects come in that order. */
function withinExecutions(straight: Trace, held: Trace): string[] {
  const found: string[] = [];
  for (const [first, second] of pairs(marked(held))) {
    // A node that is tried again makes what had failed once more, after what had come after it.
    if (first.path !== second.path || first.time !== second.time) continue;
    const one = straight.places.get(first.mark);
    const other = straight.places.get(second.mark);
    if (one !== undefined && other !== undefined && after(one, other))
      found.push(`${first.path} did ${first.what} before ${second.what}`);
  }
  return found;
}

/** Where one visit began after the other ended, its effects come after the other's. */
function betweenVisits(straight: Trace, held: Trace): string[] {
  const found: string[] = [];
  for (const [first, second] of pairs(held.effects)) {
    const [one, other] = apart(first.path, second.path);
    if (one === undefined || other === undefined) continue;
    const before = straight.visits.get(one);
    const after = straight.visits.get(other);
    if (before !== undefined && after !== undefined && after.end < before.begin)
      found.push(`${one} did ${first.what} before ${other} did ${second.what}`);
  }
  return found;
}

/** The visits of one frame in which two executions lie; none where they are of one visit, or of frames side by side. */
function apart(one: string, other: string): [string?, string?] {
  const [a, b] = [one.split("/"), other.split("/")];
  const at = a.findIndex((part, index) => part !== b[index]);
  const [left, right] = [a[at], b[at]];
  // Visits stand at even places of a path, nested runs at odd ones; items of one map are side by side.
  if (at < 0 || at % 2 === 1 || left === undefined || right === undefined) return [];
  const visit = (part: string): string => [...a.slice(0, at), part.replace(/\[.*$/u, "")].join("/");
  const found: [string, string] = [visit(left), visit(right)];
  return found[0] === found[1] ? [] : found;
}

/** Whether one piece of a program comes after another one of it. */
function after(one: Place, other: Place): boolean {
  const at = one.findIndex((step, index) => step !== other[index]);
  const [left, right] = [one[at], other[at]];
  if (left?.[0] !== "s" || right?.[0] !== "s") return false;
  return Number(left.slice(1)) > Number(right.slice(1));
}

/** Effects of calls that can be told apart, each with which time of its call it is. */
function marked(trace: Trace): (Effect & { readonly time: number })[] {
  const times = new Map<string, number>();
  return trace.effects.flatMap((effect) => {
    if (effect.mark === "") return [];
    const time = (times.get(effect.mark) ?? 0) + 1;
    times.set(effect.mark, time);
    return [{ ...effect, time }];
  });
}

/** Each two of a list, in its order. */
function pairs<T>(list: readonly T[]): [T, T][] {
  return list.flatMap((first, index) =>
    list.slice(index + 1).map((second): [T, T] => [first, second]),
  );
}
