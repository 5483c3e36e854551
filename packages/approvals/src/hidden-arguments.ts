/**
 * Arguments that a caller may read and that nothing prints.
 *
 * H1 `arguments` is an accessor that is not enumerable: JSON, a structured clone and `inspect` (with `showHidden` too) have
 *    no arguments, and the sealer refuses it rather than dropping it without a word.
 * H2 What holds it stays enumerable, so a spread keeps the edit, and a printed form still says that there is one: whoever
 *    runs a copy that lost the arguments has none to run, never those that were replaced.
 */
import type { DecisionRecord } from "./decision.ts";

export interface HiddenArguments {
  readonly arguments: unknown;
}

export function hideArguments(args: unknown): HiddenArguments {
  return hideIn({}, args);
}

/** The same beside other members, which stay as they are. */
export function hideIn<T extends object>(shown: T, args: unknown): T & HiddenArguments {
  const hidden = { ...shown };
  Object.defineProperty(hidden, "arguments", { get: () => args, enumerable: false }); // H1
  return Object.freeze(hidden) as T & HiddenArguments;
}

/** The same decision with its edited arguments hidden, wherever it comes from. */
export function quietDecision(decision: DecisionRecord): DecisionRecord {
  const edited = editedOf(decision);
  if (edited === undefined) return decision;
  return { ...decision, edited: hideArguments(edited.arguments) };
}

/**
 * The same decision as plain data, edited arguments and all, for a sealed journal: anything that prints it prints them. A
 * decision as it is handed out is refused by the sealer.
 */
export function sealableDecision(decision: DecisionRecord): DecisionRecord {
  const edited = editedOf(decision);
  if (edited === undefined) return decision;
  return { ...decision, edited: { arguments: edited.arguments } };
}

/** An own member only: what somebody put on `Object.prototype` edits nothing. */
function editedOf(decision: DecisionRecord): DecisionRecord["edited"] {
  return Object.hasOwn(decision, "edited") ? decision.edited : undefined;
}
