/**
 * The whole text of an entry whose repeats are kept once: `~<length> <revision>.<from>.<size>.<at> …`, a line feed, and what is
 * new. `earlier` gives the whole text of an earlier entry.
 */
export function wholeEntry(kept: string, earlier: (revision: number) => string): string {
  if (!kept.startsWith("~")) return kept;
  const line = kept.indexOf("\n");
  const [, ...places] = kept.slice(0, line).split(" ");
  const fresh = kept.slice(line + 1);
  let whole = "";
  let used = 0;
  for (const place of places) {
    const [revision = 0, from = 0, size = 0, at = 0] = place.split(".").map(Number);
    whole += fresh.slice(used, at) + earlier(revision).slice(from, from + size);
    used = at;
  }
  return whole + fresh.slice(used);
}
