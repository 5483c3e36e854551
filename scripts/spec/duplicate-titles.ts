/**
 * The full titles that occur more than once, each told once, in order of their second occurrence.
 * Two tests under one title make a report ambiguous: the second may fail while the first is read.
 */
export function duplicateTitles(fullTitles: Iterable<string>): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const title of fullTitles) {
    if (seen.has(title)) twice.add(title);
    seen.add(title);
  }
  return [...twice];
}
