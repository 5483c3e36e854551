/** A test as a report names it: the package that it is of, its suites and its title. */
export interface Titled {
  /** A report tells packages apart, so the tests of twin packages may share their titles. */
  readonly of: string;
  readonly fullTitle: string;
}

/**
 * The full titles that occur more than once in a package, each told once, in order of their second occurrence.
 * Two tests under one title make a report ambiguous: the second may fail while the first is read.
 */
export function duplicateTitles(tests: Iterable<Titled>): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { of, fullTitle } of tests) {
    const name = `${of}\n${fullTitle}`;
    if (seen.has(name)) twice.add(fullTitle);
    seen.add(name);
  }
  return [...twice];
}
