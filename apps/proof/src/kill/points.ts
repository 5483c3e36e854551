/** Which points there are, as one undisturbed run shows them, and what each is called. */
import type { CrashMoment } from "@holdpoint/testing";

import type { KillPoint, Told } from "./dying.ts";
import { onceOnly } from "./effects.ts";
import type { Scenario } from "./world.ts";
import { once } from "./write-points.ts";

export interface NamedPoint {
  readonly scenario: Scenario;
  readonly point: KillPoint;
  /** The write points of the threat model that it is around. */
  readonly names: readonly string[];
  /** Whether the process dies there that takes up what another one left, instead of the one that began. */
  readonly takingUp?: true;
}

export const moments: readonly CrashMoment[] = ["before", "inside", "after"];

export function pointsOf(told: readonly Told[], scenario: Scenario): readonly NamedPoint[] {
  const points: NamedPoint[] = [];
  const around = (at: "commit" | "effect", of: string, nth: number, names: readonly string[]) =>
    points.push(
      ...moments.map((moment): NamedPoint => ({ scenario, point: { at, of, nth, moment }, names })),
    );
  let sealings: number[] = [];
  for (const line of told) {
    if (line.told === "sealing") sealings.push(line.nth);
    if (line.told === "effect") around("effect", line.tool, line.nth, [effectName(line.tool)]);
    if (line.told === "commit") {
      const { nth, points: names } = line;
      around("commit", names[0]!, nth, names);
      // What was sealed for a record, or for a pause.
      if (names.includes("W7") || names.includes("W8"))
        for (const sealing of sealings) points.push(sealed(scenario, sealing));
      sealings = [];
    }
  }
  return points;
}

function sealed(scenario: Scenario, nth: number): NamedPoint {
  const point = { at: "sealing", of: "Stamp", nth, moment: "inside" } as const;
  return { scenario, point, names: ["W6"] };
}

function effectName(tool: string): string {
  if (tool === "notify") return "W10/told";
  return onceOnly.has(tool) ? once("W4") : "W4";
}

/** What is killed on a server in the quick form, inside each: what differs from a file. */
export const sampledOnServers: readonly string[] = [
  "W1 inside",
  "W5 inside",
  "W8 inside",
  "W13 inside",
  "W14 inside",
  "W15 inside",
  "W18 inside",
  "W20 inside",
  "W21 inside",
  "W22 inside",
];

/** The points at which whoever takes a session dies. */
export const takeovers: readonly NamedPoint[] = moments.map((moment) => ({
  scenario: "claim",
  point: { at: "commit", of: "W20", nth: 1, moment },
  names: ["W20"],
  takingUp: true,
}));

/**
 * So many kills of each write point and moment, spread over the places where it comes; what a point covers beside its own name
 * counts for that one too.
 */
export function spread(
  points: readonly NamedPoint[],
  {
    times,
    only,
    seen,
  }: {
    readonly times: number;
    /** Which write points at which moment; all, where nothing is said. */
    readonly only: readonly string[] | undefined;
    /** How often each was chosen before. */
    readonly seen: Map<string, number>;
  },
): readonly NamedPoint[] {
  const chosen: NamedPoint[] = [];
  const kinds = new Map<string, NamedPoint[]>();
  for (const named of points) {
    for (const kind of kindsOf(named).filter((each) => only?.includes(each) ?? true))
      kinds.set(kind, [...(kinds.get(kind) ?? []), named]);
  }
  for (const [kind, own] of kinds) {
    for (let at = 0; (seen.get(kind) ?? 0) < times; at += 1) {
      const named = own[at % own.length]!;
      chosen.push(named);
      for (const each of kindsOf(named)) seen.set(each, (seen.get(each) ?? 0) + 1);
    }
  }
  return chosen;
}

function kindsOf({ names, point }: NamedPoint): readonly string[] {
  return names.map((name) => `${name} ${point.moment}`);
}

/**
 * Whether a process may have left a call in doubt: one that may not be repeated was under way when it died, as far as it told.
 */
export function mayBeInDoubt(told: readonly Told[]): boolean {
  let underWay = 0;
  for (const line of told) {
    if (line.told === "commit" && line.points.includes(once("W3"))) underWay += 1;
    if (line.told === "done" && line.points.includes(once("W5"))) underWay -= 1;
  }
  return underWay > 0;
}
