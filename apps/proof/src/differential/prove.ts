import type { Block } from "./block.ts";
import { differences, endedBy } from "./compare.ts";
import { kindsIn } from "./kinds.ts";
import { ran, type Mode, type Ran } from "./run.ts";

/** What was tried, over all flows. */
export interface Figures {
  flows: number;
  failing: number;
  /** Runs that were ended by too few rounds. */
  short: number;
  runs: number;
  questions: number;
  pauses: number;
  effects: number;
  /** In how many flows each kind of block, node and piece was. */
  readonly kinds: Map<string, number>;
}

export function noFigures(): Figures {
  return {
    flows: 0,
    failing: 0,
    short: 0,
    runs: 0,
    questions: 0,
    pauses: 0,
    effects: 0,
    kinds: new Map(),
  };
}

/** Never paused: whatever is asked is decided at once, and all of a round runs at the same time. */
const straight: Mode = {
  name: "never paused",
  waits: () => false,
  through: "memory",
  concurrency: 64,
  inline: true,
  answers: 1,
  rounds: 10_000,
};

/** How a flow is tried. */
export interface Trial {
  readonly luck: number;
  /** Questions that are tried alone, spread over all; more than there are: each. */
  readonly points: number;
}

type Held = Pick<Mode, "name" | "through" | "concurrency" | "answers">;

/** Every question waits; and each by itself, alone among all; with as many rounds as were needed without a pause. */
function modes({ questions, trace: { rounds } }: Ran, { luck, points }: Trial): Mode[] {
  const everywhere: Held[] = [
    { name: "in memory", through: "memory", concurrency: 64, answers: 1 },
    {
      name: "piecemeal, through texts",
      through: "text",
      concurrency: 1 + (luck % 3),
      answers: 2 + (luck % 2),
    },
    { name: "from its log", through: "log", concurrency: 2, answers: 1 + (luck % 2) },
  ];
  const all = everywhere.map((held): Mode => ({
    ...held,
    name: `paused everywhere, ${held.name}`,
    waits: () => true,
    inline: false,
    rounds,
  }));
  const count = Math.min(points, questions);
  const single = Array.from({ length: count }, (_, index): Mode => {
    const point = (luck + Math.floor((index * questions) / count)) % questions;
    const through = (point + luck) % 2 === 0 ? "memory" : "text";
    return {
      name: `paused at question ${point} alone, through ${through}`,
      waits: (question) => question === point,
      through,
      concurrency: through === "text" ? 1 : 3,
      inline: point % 3 > 0,
      answers: 1,
      rounds,
    };
  });
  return [...all, ...single, ...tooShort(rounds)];
}

/** A budget of half of the rounds ends the run wherever it has come to by then. */
function tooShort(rounds: number): Mode[] {
  const half = Math.floor(rounds / 2);
  if (half === 0) return [];
  const name = `paused everywhere, with ${half} of ${rounds} rounds`;
  const how = { through: "text", concurrency: 2, answers: 2, inline: false } as const;
  return [{ ...how, name, waits: () => true, rounds: half }];
}

/** Runs a flow without a pause, and with pauses at every point; says what differs. */
export async function prove(of: Block, trial: Trial, figures: Figures): Promise<string[]> {
  const never = await ran(of, straight);
  const found: string[] = never.pauses === 0 ? [] : ["it paused although everything was decided"];
  count(figures, never);
  figures.flows += 1;
  for (const kind of new Set(kindsIn(of)))
    figures.kinds.set(kind, (figures.kinds.get(kind) ?? 0) + 1);
  if ("code" in never.end) figures.failing += 1;
  for (const mode of modes(never, trial)) {
    const held = await ran(of, mode);
    count(figures, held);
    if (endedBy(held) === "round-budget") figures.short += 1;
    for (const difference of differences(never, held, mode.rounds))
      found.push(`${mode.name}: ${difference}`);
  }
  return found;
}

function count(figures: Figures, { questions, pauses, trace }: Ran): void {
  figures.runs += 1;
  figures.questions += questions;
  figures.pauses += pauses;
  figures.effects += trace.effects.length;
}
