/**
 * How long an owner may count on its lease, by its own clocks (WF-33). Pure.
 *
 * T1 A term begins when its renewal was started, not when the answer came: a slow answer makes it no longer.
 * T2 What has passed is the larger of what the monotonic and the wall clock say: the one stands still while a machine is
 *    suspended, the other may be put back.
 * T3 It is renewed from a third of the lease on, and over at two thirds: before the store could call it lapsed.
 */

import type { Clock } from "@holdpoint/approvals";

/** A moment by both clocks of this machine, milliseconds. */
export interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

export type TermPhase = "fresh" | "due" | "over";

export function momentOf(clock: Clock): Moment {
  return { wall: clock.now(), monotonic: clock.monotonic() };
}

/** T2 */
export function elapsedMs(since: Moment, now: Moment): number {
  return Math.max(now.monotonic - since.monotonic, now.wall - since.wall);
}

/** T3 */
export function phaseOf(elapsed: number, leaseMs: number): TermPhase {
  if (elapsed >= overAfterMs(leaseMs)) return "over";
  return elapsed >= dueAfterMs(leaseMs) ? "due" : "fresh";
}

export function dueAfterMs(leaseMs: number): number {
  return Math.floor(leaseMs / 3);
}

export function overAfterMs(leaseMs: number): number {
  return Math.floor((leaseMs * 2) / 3);
}
