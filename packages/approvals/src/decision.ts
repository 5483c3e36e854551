import type { ActorRef } from "./actor.ts";

/** What a person brings: `approve(…)` or `deny(…)`; branded, never told apart by shape. */
export type Decision = Approve | Deny;

declare const brand: unique symbol;

export interface Approve {
  readonly [brand]: "approve";
  readonly kind: "approve";
}

export interface Deny {
  readonly [brand]: "deny";
  readonly kind: "deny";
}

/** Why a record was denied without a person's no. */
export type WithdrawReason = "expired" | "superseded" | "cancelled" | "state-not-sealable";

/** A decision as it is recorded, journaled and replayed: plain data. */
export interface DecisionRecord {
  readonly approved: boolean;
  readonly by: ActorRef;
  /** Milliseconds since 1970, by the store's clock where there is one. */
  readonly at: number;
  readonly note?: string;
  /** The arguments that run instead of those asked for; present only when edited. */
  readonly edited?: { readonly arguments: unknown };
  /** Of a denial: whether it covers the rest of the run (APR-18), and why nobody was asked. */
  readonly forRun?: boolean;
  readonly reason?: WithdrawReason;
}

/** The resting state of a consumed record (APR-21). */
export type Outcome = "executed" | "failed" | "passed" | "unused" | "denied" | WithdrawReason;
