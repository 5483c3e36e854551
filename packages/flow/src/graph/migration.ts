/**
 * Carrying runs over a graph change on purpose (FLOW-53). A migration leads from one digest to another; several lead on from
 * each other, so that a run of any earlier graph finds its way to the newest.
 */
import type { z } from "zod";

import { FlowError } from "../errors.ts";
import type { State } from "./node.ts";

/** One step from a graph to the next. */
export interface Migration {
  /** The flow's name, which stays what it is. */
  readonly flow: string;
  /** Digest of the graph that runs are carried over from: `flow.digest` of the old one, or `data`'s of a refusal. */
  readonly from: string;
  /** Digest of the graph that they are carried over to. */
  readonly to: string;
  /** Nodes that go by another name now, old name to new. */
  readonly nodes?: Readonly<Record<string, string>>;
  /** The state as the new graph has it. Pure; absent: as it is. */
  readonly state?: (state: Readonly<State>) => State;
  /** What a visit has written that is not merged yet, some fields of the old state, as fields of the new one. */
  readonly update?: (update: Readonly<State>) => State;
  /** The old state's schema, where it reached classes that the new one does not. */
  readonly reads?: z.ZodType;
}

/** Refuses what could not be told apart later. @throws FlowError `flow-invalid` */
export function checkMigrations(migrations: readonly Migration[]): void {
  const seen = new Set<string>();
  for (const { flow, from, to, nodes = {} } of migrations) {
    const where = { flow, option: "migrations" };
    if (from === to)
      throw new FlowError("flow-invalid", `a migration of '${flow}' leads nowhere`, where);
    if (seen.has(`${flow} ${from}`))
      throw new FlowError("flow-invalid", `two migrations of '${flow}' begin at ${from}`, where);
    seen.add(`${flow} ${from}`);
    const names = Object.values(nodes);
    if (new Set(names).size < names.length)
      throw new FlowError("flow-invalid", `a migration of '${flow}' makes one node of two`, where);
  }
}

/** The steps from one graph to another; none lead there: `undefined`. */
export function wayBetween(
  migrations: readonly Migration[],
  flow: string,
  from: string,
  to: string,
): readonly Migration[] | undefined {
  const way: Migration[] = [];
  for (let at = from; at !== to; at = way.at(-1)!.to) {
    const next = migrations.find((step) => step.flow === flow && step.from === at);
    // Each graph is left by one step, so a way longer than the list goes round in circles.
    if (next === undefined || way.length === migrations.length) return undefined;
    way.push(next);
  }
  return way;
}
