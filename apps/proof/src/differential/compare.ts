/**
 * What two runs of one flow have to agree on (FLOW-62).
 *
 * C1 Both end in a state, the same byte for byte, or both fail: the one that paused by visits by which the other failed too,
 *    with the same errors.
 * C2 The one that paused begins no visit and has no effect that the other one has not, whatever they end in.
 * C3 What it does not have lies in visits that were cut off: they waited for somebody when one beside them failed, and ended the
 *    flow. A visit that ended, and an item of a map that did, has all of its effects, and ended as the other's.
 * C4 Order is kept (`order.ts`).
 *
 * A run that is given fewer rounds than it needs ends by that. Which visits it had come to by then depends on when people
 * answered; what it has come to keeps C2, C3 and C4 with a run that had rounds enough.
 */
import { disorder } from "./order.ts";
import type { Failed, Ran } from "./run.ts";
import { unitsOf, type Effect, type Trace } from "./trace.ts";

/** In what `held` differs from `straight`, as sentences; none: it does not. `rounds`: how many `held` was given. */
export function differences(straight: Ran, held: Ran, rounds: number): string[] {
  const [one, other] = [straight.trace, held.trace];
  const short = rounds < one.rounds && endedBy(held) === "round-budget";
  return [
    ...(short ? [] : ends(straight, held)),
    ...surplus(other, one),
    ...lacking(one, other, short),
    ...visitEnds(one, other),
    ...(short ? [] : cutOffRightly(other)),
    ...disorder(one, other),
  ];
}

/** The code that a run failed by. */
export function endedBy({ end }: Ran): string | undefined {
  return "code" in end ? end.code : undefined;
}

/** C1 */
function ends({ end: straight }: Ran, { end: held, trace }: Ran): string[] {
  if ("state" in straight) {
    if (!("state" in held)) return [`it ended in ${held.code} instead of a state`];
    if (held.state === straight.state) return [];
    return [`its state is ${held.state} instead of ${straight.state}`];
  }
  if ("state" in held) return [`it ended in a state instead of ${straight.code}`];
  if (held.failures.length === 0 && held.code !== straight.code)
    return [`it ended in ${held.code} instead of ${straight.code}`];
  const due = new Map(straight.failures.map(({ node, error }) => [node, error]));
  return held.failures.flatMap(({ node, error }: Failed["failures"][number]) =>
    due.get(node) === error || (due.has(node) && isCutWithin(trace, node))
      ? []
      : [`${node} failed by ${error} instead of ${due.get(node) ?? "nothing"}`],
  );
}

/** C2 */
function surplus(held: Trace, straight: Trace): string[] {
  const visits = [...held.visits.keys()].filter((path) => !straight.visits.has(path));
  return [
    ...visits.map((path) => `it went to ${path}`),
    ...less(straight.effects, held.effects).map(
      ({ path, what }) => `${path} did ${what} too often`,
    ),
  ];
}

/** C3. `short`: it ended by its rounds, so that also what it never came to may be lacking. */
function lacking(straight: Trace, held: Trace, short: boolean): string[] {
  const isExcused = (path: string): boolean => {
    const known = unitsOf(path).findLast((unit) => held.visits.has(unit) || held.items.has(unit));
    return known === undefined ? short : held.visits.get(known)?.end === Infinity;
  };
  const visits = [...straight.visits.keys()].filter((path) => !held.visits.has(path));
  return [
    ...visits.filter((path) => !isExcused(path)).map((path) => `it did not go to ${path}`),
    ...less(held.effects, straight.effects)
      .filter(({ path }) => !isExcused(path))
      .map(({ path, what }) => `${path} did not do ${what}`),
  ];
}

/** C3: how visits, items and nested runs ended that both have come to the end of. */
function visitEnds(straight: Trace, held: Trace): string[] {
  const found: string[] = [];
  const compare = (what: string, due: string | undefined, came: string | undefined): void => {
    if (due !== undefined && came !== undefined && due !== came)
      found.push(`${what} ended in ${came} instead of ${due}`);
  };
  // By what a nested run failed that was cut short, and what that leads to, may be another of its failures.
  const text = (path: string, end: string | undefined): string | undefined =>
    end !== undefined && end !== "ok" && isCutWithin(held, path) ? "a failure" : end;
  for (const kind of ["visits", "items", "runs"] as const)
    for (const [path, { how }] of held[kind])
      compare(path, text(path, straight[kind].get(path)?.how), text(path, how));
  return found;
}

/** C3: a visit without an end waited, and what it is within was cut off too or failed. */
function cutOffRightly(held: Trace): string[] {
  return [...held.visits].flatMap(([path, { end }]) => {
    if (end < Infinity) return [];
    if (!held.waited.has(path)) return [`${path} did not wait, and has no end`];
    const run = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (run === "" || held.runs.get(run)?.how !== "ok") return [];
    return [`${path} has no end, and ${run} ended well`];
  });
}

function isCutWithin(held: Trace, path: string): boolean {
  return [...held.visits].some(
    ([visit, { end }]) => end === Infinity && visit.startsWith(`${path}/`),
  );
}

/** Effects of `others` that `some` has not, or not as often. */
function less(some: readonly Effect[], others: readonly Effect[]): Effect[] {
  const counts = new Map<string, number>();
  const text = ({ path, what, mark }: Effect): string => `${path} ${what} ${mark}`;
  for (const effect of some) counts.set(text(effect), (counts.get(text(effect)) ?? 0) + 1);
  return others.filter((effect) => {
    const left = (counts.get(text(effect)) ?? 0) - 1;
    counts.set(text(effect), left);
    return left < 0;
  });
}
