import { END, flow, type Flow, type FlowBuilder, type NodeOptions } from "@holdpoint/flow";
import { z } from "zod";

import type { Block, NodePlan } from "./block.ts";
import { word } from "./people.ts";
import { perform, type Scene } from "./piece.ts";

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
type World = Omit<Scene, "ctx" | "place">;

/** Builds the flow that a block describes; `editable`: what asks and takes edits. */
export function built(
  of: Block,
  world: World,
): { readonly flow: Generated; readonly editable: ReadonlySet<string> } {
  const building = new Building(world);
  const { entry, exits } = building.block(of);
  return { flow: building.end(entry, exits), editable: building.editable };
}

/** Where a block begins, and the nodes after which it is over. */
interface Ends {
  readonly entry: string;
  readonly exits: readonly string[];
}

class Building {
  readonly #world: World;
  readonly #names = new Map<string, number>();
  readonly editable: Set<string>;
  #flow: Names;

  constructor(world: World) {
    this.#world = world;
    this.editable = new Set(Object.keys(world.tools));
    this.#flow = flow("f", State)
      .reduce("log", (all, more) => [...all, ...more])
      .reduce("sum", (all, more) => all + more)
      .reduce("turns", (all, more) => ({ ...all, ...more })) as Names;
  }

  end(entry: string, exits: readonly string[]): Generated {
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
    const says = (what: string): Partial<S> => ({ log: [`${name}: ${what}`], sum: 1 });
    switch (plan.kind) {
      case "function": {
        const retry = { attempts: plan.attempts, on: () => true };
        return this.#add((b) =>
          b.node(
            name,
            async (_, ctx) => says(await perform(plan.of, { ...world, ctx, place: [] })),
            {
              retry,
              asks: [word],
            },
          ),
        );
      }
      case "gate": {
        const { when, edits } = plan;
        if (edits) this.editable.add(`node:f.${name}`);
        return this.#add((b) =>
          b.gate(name, {
            payload: (s) => ({ at: s.log.length, n: s.sum }),
            when: (s) => when === "always" || (when === "odd" && s.sum % 2 === 1),
            ...(edits && {
              edits: {
                schema: Payload,
                apply: (edited: z.output<typeof Payload>, s) => says(`${s.log.length} ${edited.n}`),
              },
            }),
          }),
        );
      }
      case "call": {
        const args = { n: plan.n, slow: 0 };
        return this.#add((b) =>
          b.call(name, world.tools[plan.tool], {
            args: plan.static ? args : (s) => ({ ...args, n: plan.n + s.sum }),
            into: ({ got }) => says(got),
          }),
        );
      }
    }
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
