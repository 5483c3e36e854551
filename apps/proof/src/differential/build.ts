import {
  END,
  flow,
  type Flow,
  type FlowBuilder,
  type MapResults,
  type NodeOptions,
} from "@holdpoint/flow";
import { z } from "zod";

import type { Block, NodePlan } from "./block.ts";
import { word } from "./people.ts";
import { perform, runsIn, type Piece, type Scene } from "./piece.ts";

const State = z.object({
  n: z.number(),
  log: z.array(z.string()).default([]),
  sum: z.number().default(0),
  /** Turns of loops, by node. */
  turns: z.record(z.string(), z.number()).default({}),
});
type S = z.output<typeof State>;
type In = z.input<typeof State>;

export type Generated = Flow<S, In>;

/** A builder whose names are not known to the compiler. */
type Names = FlowBuilder<S, In, string, string>;

const Payload = z.object({ at: z.number(), n: z.number() });

/** What the code of a flow's nodes works with. */
type World = Pick<Scene, "tools" | "trace" | "inline">;

/** Builds the flow that a block describes; `editable`: what asks and takes edits. */
export function built(of: Block, world: World): Built {
  const all: All = {
    begun: 0,
    editable: new Set(Object.keys(world.tools)),
  };
  return { flow: new Building(world, all).whole(of), ...all };
}

interface Built extends All {
  readonly flow: Generated;
}

/** What is collected over a flow and those within it. */
interface All {
  /** Flows begun: each has a name of its own, the same in every run. */
  begun: number;
  /** What asks and takes edits. */
  readonly editable: Set<string>;
}

/** Where a block begins, and the nodes after which it is over. */
interface Ends {
  readonly entry: string;
  readonly exits: readonly string[];
}

class Building {
  readonly #world: World;
  readonly #all: All;
  readonly #names = new Map<string, number>();
  readonly #title: string;
  readonly #flow: Names;

  constructor(world: World, all: All) {
    this.#world = world;
    this.#all = all;
    this.#title = `f${(all.begun += 1)}`;
    this.#flow = flow(this.#title, State)
      .reduce("log", (before, more) => [...before, ...more])
      .reduce("sum", (before, more) => before + more)
      .reduce("turns", (before, more) => ({ ...before, ...more })) as Names;
  }

  whole(of: Block): Generated {
    const { entry, exits } = this.block(of);
    for (const exit of exits) this.#flow.edge(exit, END);
    return this.#flow.start(entry).build();
  }

  block(of: Block): Ends {
    switch (of.is) {
      case "node":
        return this.#node(of.node);
      case "sequence":
        return this.#sequence(of.of.map((part) => this.block(part)));
      case "fork":
        return this.#fork(of.of, of.join);
      case "choice":
        return this.#choice(of.of, of.join);
      case "loop":
        return this.#loop(of.body, of.times);
    }
  }

  #sequence(parts: readonly Ends[]): Ends {
    for (const [index, { entry }] of parts.entries())
      for (const exit of parts[index - 1]?.exits ?? []) this.#flow.edge(exit, entry);
    return { entry: parts[0]!.entry, exits: parts.at(-1)!.exits };
  }

  #fork(branches: readonly Block[], join: boolean): Ends {
    const head = this.#plain("fork");
    const parts = branches.map((branch) => this.block(branch));
    for (const { entry } of parts) this.#flow.edge(head, entry);
    return { entry: head, exits: [this.#meet(parts, join)] };
  }

  #choice(branches: readonly Block[], join: boolean): Ends {
    const head = this.#plain("choice");
    const parts = branches.map((branch) => this.block(branch));
    const entries = parts.map(({ entry }) => entry);
    this.#flow.route(head, entries, (s) =>
      s.sum % 3 === 2 ? entries : entries[(s.sum % 3) % entries.length]!,
    );
    return { entry: head, exits: [this.#meet(parts, join)] };
  }

  #meet(parts: readonly Ends[], join: boolean): string {
    const meet = this.#plain("meet", { join });
    for (const { exits } of parts) for (const exit of exits) this.#flow.edge(exit, meet);
    return meet;
  }

  #loop(body: Block, times: number): Ends {
    const part = this.block(body);
    const tail = this.#name("loop");
    this.#add((b) => b.node(tail, (s: S) => ({ turns: { [tail]: (s.turns[tail] ?? 0) + 1 } })));
    const after = this.#plain("after");
    for (const exit of part.exits) this.#flow.edge(exit, tail);
    const { entry } = part;
    this.#flow.route(tail, [entry, after], (s) => (s.turns[tail]! < times ? entry : after));
    return { entry, exits: [after] };
  }

  #node(plan: NodePlan): Ends {
    const name = this.#name(plan.kind);
    this.#kind(name, plan);
    const exits = [name];
    if (plan.kind === "gate" && plan.denied) {
      const refused = this.#plain("refused");
      this.#flow.denied(name, refused);
      exits.push(refused);
    }
    if (plan.mends) {
      const mended = this.#plain("mended");
      this.#flow.failed(name, mended);
      exits.push(mended);
    }
    return { entry: name, exits };
  }

  #kind(name: string, plan: NodePlan): void {
    const world = this.#world;
    switch (plan.kind) {
      case "function":
        return this.#function(name, plan);
      case "gate":
        return this.#gate(name, plan);
      case "call": {
        const args = { n: plan.n, slow: 0 };
        return this.#add((b) =>
          b.call(name, world.tools[plan.tool], {
            args: plan.static ? args : (s) => ({ ...args, n: plan.n + s.sum }),
            into: ({ got }) => says(name, got),
          }),
        );
      }
      case "map": {
        const flows = this.#within(plan.of);
        return this.#add((b) =>
          b.map(name, {
            ...mapHow(name, plan),
            asks: [word],
            runs: [...flows.values()],
            each: (item: number, ctx) =>
              perform(plan.of, { ...world, ctx, flows, place: [], shift: item }),
          }),
        );
      }
      case "map-call":
        return this.#add((b) =>
          b.mapCall(name, world.tools[plan.tool], {
            ...mapHow(name, plan),
            args: (item: number) => ({ n: item, slow: item % 2 }),
          }),
        );
      case "subflow": {
        const within = new Building(world, this.#all).whole(plan.of);
        return this.#add((b) =>
          b.subflow(name, within, {
            input: (s) => ({ n: s.sum % 3 }),
            into: (end) => says(name, end.log.join(" ")),
          }),
        );
      }
    }
  }

  #function(name: string, plan: Extract<NodePlan, { kind: "function" }>): void {
    const flows = this.#within(plan.of);
    const how = {
      retry: { attempts: plan.attempts, on: () => true },
      asks: [word],
      runs: [...flows.values()],
    };
    const world = this.#world;
    this.#add((b) =>
      b.node(
        name,
        async (_, ctx) =>
          says(name, await perform(plan.of, { ...world, ctx, flows, place: [], shift: 0 })),
        how,
      ),
    );
  }

  #gate(name: string, { when, edits }: Extract<NodePlan, { kind: "gate" }>): void {
    if (edits) this.#all.editable.add(`node:${this.#title}.${name}`);
    this.#add((b) =>
      b.gate(name, {
        payload: (s) => ({ at: s.log.length, n: s.sum }),
        when: (s) => when === "always" || (when === "odd" && s.sum % 2 === 1),
        ...(edits && {
          edits: {
            schema: Payload,
            apply: (edited: z.output<typeof Payload>, s) =>
              says(name, `${s.log.length} ${edited.n}`),
          },
        }),
      }),
    );
  }

  /** The flows that a program runs, by its pieces. */
  #within(of: Piece): Map<Piece, Generated> {
    const pieces = runsIn(of);
    return new Map(
      pieces.map((piece) => [piece, new Building(this.#world, this.#all).whole(piece.of)]),
    );
  }

  /** A node that does nothing but say that it ran. */
  #plain(what: string, options: NodeOptions = {}): string {
    const name = this.#name(what);
    this.#add((b) => b.node(name, () => ({ log: [name], sum: 1 }), options));
    return name;
  }

  #add(add: (builder: FlowBuilder<S, In>) => unknown): void {
    add(this.#flow as FlowBuilder<S, In>);
  }

  #name(what: string): string {
    const number = this.#names.get(what) ?? 0;
    this.#names.set(what, number + 1);
    return `${what}${number}`;
  }
}

function says(name: string, what: string): Partial<S> {
  return { log: [`${name}: ${what}`], sum: 1 };
}

/** What both kinds of maps are given. */
function mapHow(name: string, plan: Extract<NodePlan, { kind: "map" | "map-call" }>) {
  const { items, concurrency, skips, stops } = plan;
  return {
    concurrency,
    onError: skips ? ("skip" as const) : ("fail" as const),
    stopOnPause: stops,
    over: (s: Readonly<S>) => Array.from({ length: items }, (_, index) => index + (s.sum % 2)),
    into: ({ items: ends }: MapResults<{ got: string } | string>) =>
      says(name, ends.map(endText).join(" ")),
  };
}

function endText(end: MapResults<{ got: string } | string>["items"][number]): string {
  if (!end.ok) return "failed"; // by what, a nested run may say in several ways
  return typeof end.value === "string" ? end.value : end.value.got;
}
