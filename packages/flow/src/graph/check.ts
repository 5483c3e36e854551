import { checkedRule } from "@holdpoint/approvals";
import { canonicalize } from "@holdpoint/seal";

import { namePattern } from "../limits.ts";
import { factsOf, type InterruptFacts } from "./interrupt.ts";
import { END, type EdgeSpec, type NodeSpec, type ReducerSpec, type RouteSpec } from "./node.ts";
import { reachable } from "./reach.ts";
import { bareTransforms } from "./shape.ts";
import type { StateSchema } from "./state.ts";

/** Everything a builder collected. */
export interface Draft {
  readonly name: string;
  readonly version: string | undefined;
  readonly state: StateSchema;
  readonly nodes: readonly NodeSpec[];
  readonly edges: readonly EdgeSpec[];
  readonly routes: readonly RouteSpec[];
  readonly reducers: readonly ReducerSpec[];
  readonly start: string | undefined;
}

/** Every mistake of a draft, as sentences; none: the graph is whole (FLOW-01). */
export function mistakesIn(draft: Draft): string[] {
  const names = new Set(draft.nodes.map((node) => node.name));
  const wrongNames = nameMistakes(draft);
  const connections = connectionMistakes(draft, names);
  const fields = fieldMistakes(draft);
  // Reachability says nothing useful while names are wrong.
  const reach = wrongNames.length + connections.length === 0 ? reachMistakes(draft, names) : [];
  return [
    ...wrongNames,
    ...connections,
    ...fields,
    ...optionMistakes(draft),
    ...askMistakes(draft),
    ...reach,
  ];
}

function nameMistakes(draft: Draft): string[] {
  const found: string[] = [];
  if (!namePattern.test(draft.name))
    found.push(`the flow's name '${draft.name}' is not of A-Z a-z 0-9 _ - (64 at most)`);
  if (draft.nodes.length === 0) found.push("the flow has no node");
  const seen = new Set<string>();
  for (const { name } of draft.nodes) {
    if (seen.has(name)) found.push(`there are two nodes '${name}'`);
    seen.add(name);
    if (name.startsWith("$")) found.push(`the node name '${name}' is reserved: it begins with $`);
    else if (!namePattern.test(name))
      found.push(`the node name '${name}' is not of A-Z a-z 0-9 _ - (64 at most)`);
  }
  return found;
}

function connectionMistakes(draft: Draft, names: ReadonlySet<string>): string[] {
  const found: string[] = [];
  const gates = new Set(
    draft.nodes.filter((node) => node.kind === "gate").map((node) => node.name),
  );
  const known = (name: string, where: string): void => {
    if (!names.has(name)) found.push(`${where} names '${name}', which is no node`);
  };
  for (const edge of draft.edges) {
    const what = edge.when === "finished" ? "an edge" : `a ${edge.when} edge`;
    known(edge.from, what);
    if (edge.to !== END) known(edge.to, what);
    if (edge.when === "denied" && names.has(edge.from) && !gates.has(edge.from)) {
      found.push(`'${edge.from}' has a denied edge and is no gate`);
    }
  }
  const drawn = draft.edges.map((edge) => `${edge.when} edge from '${edge.from}' to '${edge.to}'`);
  for (const twice of duplicates(drawn)) found.push(`there are two of the ${twice}`);
  for (const when of ["denied", "failed"] as const) {
    const targets = new Map(
      draft.edges
        .filter((edge) => edge.when === when)
        .map((edge) => [`${edge.from} ${edge.to}`, edge]),
    );
    for (const from of duplicates([...targets.values()].map((edge) => edge.from)))
      found.push(`'${from}' has several ${when} edges, and only one could be taken`);
  }
  for (const route of draft.routes) {
    known(route.from, "a route");
    if (route.targets.length === 0) found.push(`the route from '${route.from}' declares no target`);
    for (const target of route.targets)
      if (target !== END) known(target, `the route from '${route.from}'`);
    for (const twice of duplicates(route.targets))
      found.push(`the route from '${route.from}' declares '${twice}' twice`);
  }
  if (draft.start !== undefined) known(draft.start, "the start");
  return found;
}

function fieldMistakes(draft: Draft): string[] {
  const found = bareTransforms(draft.state).map(
    (path) =>
      `${path} ends in a bare transform, which can't be checked again: pipe it into a schema, or use a codec`,
  );
  const fields = new Set(Object.keys(draft.state.shape));
  for (const { field } of draft.reducers) {
    if (!fields.has(field))
      found.push(`a reducer names '${field}', which is no field of the state`);
  }
  for (const twice of duplicates(draft.reducers.map((reducer) => reducer.field)))
    found.push(`'${twice}' has two reducers`);
  for (const node of draft.nodes) {
    if (node.kind === "call" && typeof node.into === "string" && !fields.has(node.into)) {
      found.push(
        `'${node.name}' puts its result into '${node.into}', which is no field of the state`,
      );
    }
  }
  return found;
}

/** Options that would only fail weeks later, in the middle of a run. */
function optionMistakes(draft: Draft): string[] {
  const found: string[] = [];
  const whole = (value: number | undefined): boolean =>
    value === undefined || (Number.isSafeInteger(value) && value >= 1);
  for (const node of draft.nodes) {
    const { maxVisits, retry, timeoutMs } = node.options;
    if (!whole(maxVisits))
      found.push(`maxVisits of '${node.name}' is no whole number of 1 or more`);
    if (!whole(retry?.attempts))
      found.push(`retry.attempts of '${node.name}' is no whole number of 1 or more`);
    if (timeoutMs !== undefined && !(timeoutMs > 0))
      found.push(`timeoutMs of '${node.name}' is not more than 0`);
    if (node.kind === "map" || node.kind === "map-call") {
      if (!whole(node.concurrency))
        found.push(`concurrency of '${node.name}' is no whole number of 1 or more`);
      if (node.onError !== "fail" && node.onError !== "skip")
        found.push(`onError of '${node.name}' is neither 'fail' nor 'skip'`);
    }
    const wrong =
      node.kind === "gate"
        ? failureOf(() => checkedRule(node.rule))
        : node.kind === "call" && typeof node.args !== "function"
          ? failureOf(() => canonicalize(node.args))
          : undefined;
    if (wrong !== undefined) found.push(`'${node.name}': ${wrong}`);
  }
  return found;
}

/** What a node declares to ask: by code that can ask, once, and one interrupt to a name. */
function askMistakes(draft: Draft): string[] {
  const found: string[] = [];
  const named = new Map<string, InterruptFacts>();
  for (const { kind, name, options } of draft.nodes) {
    const { asks = [] } = options;
    if (asks.length > 0 && kind !== "function" && kind !== "map")
      found.push(`'${name}' is a ${kind} node, and only code can ask what it declares in asks`);
    for (const interrupt of asks) {
      const facts = factsOf(interrupt);
      if (facts === undefined) {
        found.push(`'${name}' declares something in asks that defineInterrupt did not make`);
        continue;
      }
      if (named.has(facts.name) && named.get(facts.name) !== facts)
        found.push(`there are two interrupts '${facts.name}'`);
      named.set(facts.name, facts);
    }
    for (const twice of duplicates(asks.flatMap((interrupt) => factsOf(interrupt)?.name ?? [])))
      found.push(`'${name}' declares the interrupt '${twice}' twice`);
  }
  return [...new Set(found)];
}

function failureOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : "it can't be checked";
  }
}

function reachMistakes(draft: Draft, names: ReadonlySet<string>): string[] {
  const after = new Map<string, string[]>();
  for (const name of names) after.set(name, []);
  for (const edge of draft.edges) after.get(edge.from)!.push(edge.to);
  for (const route of draft.routes) after.get(route.from)!.push(...route.targets);
  const reached = reachable([draft.start ?? draft.nodes[0]!.name], (name) => after.get(name) ?? []);
  const found = [...names]
    .filter((name) => !reached.has(name))
    .map((name) => `'${name}' can't be reached from the start`);

  const before = new Map<string, string[]>();
  for (const [from, targets] of after)
    for (const to of targets) before.set(to, [...(before.get(to) ?? []), from]);
  const ends = [...names].filter(
    (name) => leads(draft, name).length === 0 || after.get(name)!.includes(END),
  );
  const canEnd = reachable(ends, (name) => before.get(name) ?? []);
  for (const name of names) if (!canEnd.has(name)) found.push(`'${name}' has no way to an end`);
  return found;
}

/** Where a finished visit goes on to; nothing: the flow may end there. */
function leads(draft: Draft, name: string): string[] {
  return [
    ...draft.edges
      .filter((edge) => edge.from === name && edge.when === "finished")
      .map((edge) => edge.to),
    ...draft.routes.filter((route) => route.from === name).flatMap((route) => route.targets),
  ];
}

function duplicates(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
