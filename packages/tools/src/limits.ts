/** Every bound of this package, with its reason. */

/** A message is read by people and kept with every replay; past this it is cut, and says so. */
export const messageCharactersMax = 4096;
/**
 * Attributes are for branching and display; a failure that carries a document belongs in a result.
 */
export const attributesMax = 32;
export const attributeCharactersMax = 16_384;
export const errorNameCharactersMax = 128;
/** What a person or a log can take in; a schema may well find one issue an element. */
export const issuesMax = 20;
export const issueCharactersMax = 300;
/**
 * Merged positions of one tool's input schema; past it the rest is read as passed (a union of
 * unions can square).
 */
export const readersMax = 5000;
/**
 * Nested positions that are compiled ahead of any value: far more than schemas written by hand
 * have, far less than a stack.
 */
export const compileDepthMax = 100;
/**
 * A sparse array of this length costs nothing to make and seconds to walk; longer open ones are not
 * copied.
 */
export const openElementsMax = 1_000_000;
/** Doubling stops here: longer waits belong to whoever schedules the run. */
export const backoffMsMax = 60_000;
export const attemptsMax = 100;
/**
 * How often a commit without an answer is asked about under the same attempt before the call is
 * refused.
 */
export const unknownCommitsMax = 5;
/** How often the plan is made anew after another version was found in place. */
export const settleRoundsMax = 5;
