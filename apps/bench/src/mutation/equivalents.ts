/** Mutants of `packages/seal` that are the same program to every caller, as read by hand, with the reason. */
interface Equivalent {
  readonly file: string;
  /** A part of the line; all mutants of these kinds on it are meant. */
  readonly code: string;
  readonly kinds: readonly string[];
  readonly reason: string;
}

export const equivalents: readonly Equivalent[] = [];
