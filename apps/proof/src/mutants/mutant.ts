/** A change of a source that takes a promise away, and the tests that have to see it. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** Found exactly once in the file. */
  readonly find: string;
  readonly put: string;
  /** The vitest project, and which of its test files. */
  readonly project: string;
  readonly tests: string;
  /** Whether it is one of the quick form. */
  readonly quick?: true;
}
