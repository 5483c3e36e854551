import { approve, deny, editedArguments, type Actor, type Decision } from "@holdpoint/approvals";
import { verified } from "@holdpoint/testing";

import type { Chance } from "./chance.ts";

/** The people of every world: two who may decide everything, one who may not decide all, and the one who asks for runs. */
const names = ["dana", "erik", "finn", "gus"] as const;

export type Name = (typeof names)[number];

const actors = new Map<Name, Actor>();
for (const name of names) actors.set(name, await verified(name));

export function actor(name: Name): Actor {
  return actors.get(name)!;
}

export function requester(): Actor {
  return actor("gus");
}

/** What somebody thinks of what a tool or a gate asks. */
export function opinion(tool: string, chance: Chance, moody: boolean): Decision {
  const who: Name = chance.happens(0.9) ? chance.pick(["dana", "erik"]) : chance.pick(names);
  const by = actor(who);
  if (moody && chance.happens(0.3)) return deny({ by, forRun: chance.happens(0.3) });
  if (moody && chance.happens(0.3)) {
    const edit = editOf(tool);
    if (edit !== undefined) return approve({ by, edited: editedArguments(tool, edit) });
  }
  return agreed(tool, who);
}

/** What everybody says who is not moody. */
export function agreed(tool: string, who: Name): Decision {
  const by = actor(who);
  return tool === "node:refund.extra" ? deny({ by }) : approve({ by });
}

function editOf(tool: string): unknown {
  if (tool === "ship" || tool === "pay" || tool === "wire") return { id: "edited", n: 7 };
  return tool === "node:refund.review" ? { id: "edited", cents: 7 } : undefined;
}
