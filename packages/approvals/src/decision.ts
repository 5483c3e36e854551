import { actorRef, assertActor, type Actor, type ActorRef } from "./actor.ts";
import { ApprovalError } from "./errors.ts";
import { hideArguments } from "./hidden-arguments.ts";
import { isName, limits } from "./limits.ts";

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

/** Arguments to run instead of those asked for, made for one tool; never told by shape. */
export interface Edited {
  readonly [brand]: "edited";
  readonly tool: string;
}

/** Why a record was denied without a person's no. */
export type WithdrawReason = "expired" | "superseded" | "cancelled" | "state-not-sealable";

/**
 * A decision as it stands on record. One that this package hands out prints none of its edited arguments; `sealableDecision`
 * makes the plain data that a journal keeps and that is replayed.
 */
export interface DecisionRecord {
  readonly approved: boolean;
  readonly by: ActorRef;
  /** Milliseconds since 1970, by the store's clock where there is one. */
  readonly at: number;
  readonly note?: string;
  /**
   * The arguments that run instead of those asked for; present only when edited. Its member is read by its name alone: no
   * JSON, clone, printed form or spread of `edited` itself has it.
   */
  readonly edited?: { readonly arguments: unknown };
  /** Of a denial: whether it covers the rest of the run (APR-18), and why nobody was asked. */
  readonly forRun?: boolean;
  readonly reason?: WithdrawReason;
  /** Of a denial that an earlier one of the run covers: the record of that earlier one. */
  readonly coveredBy?: string;
}

/** The resting state of a consumed record (APR-21). */
export type Outcome = "executed" | "failed" | "passed" | "unused" | "denied" | WithdrawReason;

/** What a decision says, for the records that take it. All members are there, so that nothing inherited is read. */
export interface DecisionTerms {
  readonly approved: boolean;
  readonly by: ActorRef;
  readonly note: string | undefined;
  readonly edited: { readonly tool: string; readonly arguments: unknown } | undefined;
  readonly forRun: boolean;
}

// A decision's content is kept here and not on the object: a look-alike has none, and printing one shows no arguments.
const terms = new WeakMap<object, DecisionTerms>();
const edits = new WeakMap<object, { readonly tool: string; readonly arguments: unknown }>();

/**
 * A person's yes.
 *
 * @throws ApprovalError `actor-not-authentic` where `by` was made by no identity port; `decision-invalid` for a note that is
 *   too long, or edits that `editedArguments` did not make
 */
export function approve(who: {
  readonly by: Actor;
  readonly note?: string;
  readonly edited?: Edited;
}): Approve {
  const edited = who.edited === undefined ? undefined : edits.get(who.edited);
  if (who.edited !== undefined && edited === undefined) throw invalid("edits of unknown making");
  const decision = Object.freeze({ kind: "approve" }) as Approve;
  terms.set(decision, { ...common(who), approved: true, edited, forRun: false });
  return decision;
}

/**
 * A person's no. `forRun`: the same tool with the same arguments is denied at once for the rest of the run (APR-18).
 *
 * @throws ApprovalError `actor-not-authentic`, `decision-invalid`
 */
export function deny(who: {
  readonly by: Actor;
  readonly note?: string;
  readonly forRun?: boolean;
}): Deny {
  const decision = Object.freeze({ kind: "deny" }) as Deny;
  const forRun = who.forRun === true;
  terms.set(decision, { ...common(who), approved: false, edited: undefined, forRun });
  return decision;
}

/** Arguments that a person put in place of those asked for, for the tool of that name. */
export function editedArguments(tool: string, args: unknown): Edited {
  if (!isName(tool)) throw invalid("edits for no tool");
  const edited = Object.freeze({ tool }) as Edited;
  edits.set(edited, { tool, arguments: args });
  return edited;
}

/** Whether a value is a decision that `approve` or `deny` made. */
export function isDecision(value: unknown): value is Decision {
  return typeof value === "object" && value !== null && terms.has(value);
}

/** What a decision says. @throws ApprovalError `decision-invalid` for what `approve` and `deny` did not make. */
export function decisionTerms(decision: Decision): DecisionTerms {
  const found = isDecision(decision) ? terms.get(decision) : undefined;
  if (found === undefined) throw invalid("something that approve and deny did not make");
  return found;
}

/** What a port that asks nobody decides. */
export function plainTerms(approved: boolean, by: ActorRef, note: string | undefined) {
  return { approved, by, note, edited: undefined, forRun: false, reason: undefined };
}

/** A decision without members that say nothing, its edited arguments hidden. */
export function decisionRecord(
  terms: {
    readonly approved: boolean;
    readonly by: ActorRef;
    // None is optional: one that is left out would be looked up on Object.prototype.
    readonly note: string | undefined;
    readonly edited: { readonly arguments: unknown } | undefined;
    readonly forRun: boolean;
    readonly reason: WithdrawReason | undefined;
  },
  at: number,
): DecisionRecord {
  const { approved, by, note, edited, forRun, reason } = terms;
  return {
    approved,
    by: actorRef(by),
    at,
    ...(note === undefined ? {} : { note }),
    ...(edited === undefined ? {} : { edited: hideArguments(edited.arguments) }),
    ...(forRun ? { forRun } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
}

function common(who: { readonly by: Actor; readonly note?: string }) {
  assertActor(who.by);
  return { by: actorRef(who.by), note: checkedNote(who.note) };
}

/** @throws ApprovalError `decision-invalid` */
export function checkedNote(note: string | undefined): string | undefined {
  if (note === undefined) return undefined;
  if (typeof note !== "string" || note.length > limits.noteCharactersMax) {
    throw invalid(`a note that is no text of at most ${limits.noteCharactersMax} characters`);
  }
  return note;
}

function invalid(what: string): ApprovalError {
  return new ApprovalError("decision-invalid", `a decision with ${what}`);
}
