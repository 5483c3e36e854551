/**
 * What two runs of one flow have to agree on (FLOW-62).
 *
 * Of a run that ends well: the state byte for byte, and the effects, each as often; in order within each execution, and
 * between visits of one flow of which one began after the other ended. Calls that were under way at the same time may swap.
 * Of a run that fails, the whole or one within it: that both fail. The one that never paused may have done more by then: what
 * waited in the other one when a sibling failed never ran.
 */
import type { Ran } from "./run.ts";
import type { Effect, Place, Trace } from "./trace.ts";

/** In what `held` differs from `straight`, as sentences; none: it does not. */
export function differences(straight: Ran, held: Ran): string[] {
  if (!("state" in straight.end) || !("state" in held.end)) {
    if ("state" in straight.end !== "state" in held.end)
      return [`it ended in ${endOf(held)} instead of ${endOf(straight)}`];
    const more = surplus(held.trace.effects, straight.trace.effects);
    return more.map((what) => `it failed as it had to, and did ${what} besides`);
  }
  const found: string[] = [];
  if (straight.end.state !== held.end.state)
    found.push(`its state is ${held.end.state} instead of ${straight.end.state}`);
  for (const what of surplus(held.trace.effects, straight.trace.effects))
    found.push(`it did ${what} too often`);
  const { failed } = held.trace;
  const due = straight.trace.effects.filter(({ path }) => !isWithin(failed, path));
  for (const what of surplus(due, held.trace.effects)) found.push(`it did not do ${what}`);
  return [
    ...found,
    ...withinExecutions(straight.trace, held.trace),
    ...betweenVisits(straight.trace, held.trace),
  ];
}

function endOf({ end }: Ran): string {
  return "state" in end ? "a state" : end.code;
}

function isWithin(runs: ReadonlySet<string>, path: string): boolean {
  return [...runs].some((run) => path.startsWith(run));
}

/** Effects of one run that another one has not, or not as often. */
function surplus(some: readonly Effect[], others: readonly Effect[]): string[] {
  const counts = new Map<string, number>();
  const text = ({ path, what, mark }: Effect): string => `${path} ${what} ${mark}`;
  for (const effect of others) counts.set(text(effect), (counts.get(text(effect)) ?? 0) + 1);
  return some.map(text).filter((what) => {
    const left = (counts.get(what) ?? 0) - 1;
    counts.set(what, left);
    return left < 0;
  });
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
