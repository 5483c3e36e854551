import type { Chance } from "./chance.ts";

/** What can go wrong with one call of a port, or with the world around it. */
export const faultKinds = [
  /** The call does not get there: `store-unavailable`, nothing applied. */
  "away",
  /** The commit gets lost, and the caller is told that nobody knows. */
  "lost-commit",
  /** The commit is applied, and the caller is told that nobody knows. */
  "lost-answer",
  /** The caller is told that nobody knows, and the commit arrives later. */
  "straggler",
  /** Done now, answered later: what was read is old by then. */
  "slow-answer",
  /** The process dies before what it asked for is done. */
  "die-before",
  /** The process dies after it was done, and before it was told. */
  "die-after",
  /** The process dies with its commit on the way, which arrives later. */
  "die-sending",
  /** The process dies at rest. */
  "crash",
  /** The store's clock is put somewhere else. */
  "store-clock",
  /** A process's wall clock is put somewhere else. */
  "wall-clock",
  /** A process stands still for a while, and goes on where it was. */
  "stall",
] as const;

export type FaultKind = (typeof faultKinds)[number];

/** Whether approvals, logs and registry are one database or three. */
export type Layout = "together" | "apart";

/** What works on the runs: runners by hand, the facade by hand, supervisors over leases. */
export type Mode = "runner" | "facade" | "supervisor";

/** Which flow a run is of. */
export type FlowName = "refund" | "triage" | "batch" | "errand" | "nap";

export interface Profile {
  readonly layout: Layout;
  readonly mode: Mode;
  readonly processes: number;
  readonly flows: readonly FlowName[];
  /** How likely each fault is where it could happen; 0: not in this world. */
  readonly faults: Readonly<Record<FaultKind, number>>;
  /** How often something comes from outside while calls wait to be answered. */
  readonly bustle: number;
  /** Steps during which things go wrong. */
  readonly roughSteps: number;
  /** Whether somebody cancels runs. */
  readonly cancels: boolean;
  /** Whether people contradict each other, edit and deny at will; else they go by what is asked. */
  readonly moody: boolean;
}

const flowNames: readonly FlowName[] = ["refund", "triage", "batch", "errand", "nap"];

/** How likely a fault is in a world that has it. */
const rates: Readonly<Record<FaultKind, number>> = {
  away: 0.02,
  "lost-commit": 0.06,
  "lost-answer": 0.06,
  straggler: 0.04,
  "slow-answer": 0.15,
  "die-before": 0.02,
  "die-after": 0.02,
  "die-sending": 0.02,
  crash: 0.01,
  "store-clock": 0.01,
  "wall-clock": 0.01,
  stall: 0.01,
};

/** What a seed's world is like: each has some of the faults, so that none hides behind another. */
export function profileOf(chance: Chance): Profile {
  const calm = chance.happens(0.1);
  const faults = Object.fromEntries(
    faultKinds.map((kind) => [
      kind,
      !calm && chance.happens(0.5) ? rates[kind] * (chance.happens(0.2) ? 3 : 1) : 0,
    ]),
  ) as Record<FaultKind, number>;
  const mode = chance.pick<Mode>(["runner", "facade", "supervisor", "supervisor"]);
  const processes = 1 + chance.below(3);
  // Without leases, who cancels a run has to know that nobody works on it.
  const mayCancel = mode === "supervisor" || processes === 1;
  return {
    layout: chance.happens(0.6) ? "together" : "apart",
    mode,
    processes,
    flows: Array.from({ length: 1 + chance.below(2) }, () => chance.pick(flowNames)),
    faults,
    bustle: chance.pick([0.02, 0.08, 0.25]),
    roughSteps: chance.pick([60, 150, 300]),
    // A runner alone keeps no wish to cancel: where it dies in the middle, the run goes on without what was taken back.
    cancels: mayCancel && chance.happens(mode === "runner" ? 0.7 : 0.3),
    moody: chance.happens(0.5),
  };
}
