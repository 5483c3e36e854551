const ID = /^[A-Z]+-?\d+$/;

/** Tells whether a word is spelled like a spec id: `SEAL-07`, `CASE-002`, `R001`, `P1`. */
export function isId(word: string): boolean {
  return ID.test(word);
}

/**
 * The ids that lead a test's title, in their order: `"SEAL-03 SEAL-23 keeps -0"` has two.
 * The first word that is no id ends them, so an id that is only mentioned proves nothing.
 */
export function leadingIds(title: string): string[] {
  const ids: string[] = [];
  for (const word of title.trim().split(/[\s,:]+/)) {
    if (!isId(word)) break;
    if (!ids.includes(word)) ids.push(word);
  }
  return ids;
}

/** The letters of an id: `SEAL` of `SEAL-07`. */
export function familyOf(id: string): string {
  return id.replace(/-?\d+$/, "");
}

/** Orders ids by family, then by number, so that `SEAL-9` comes before `SEAL-10`. */
export function compareIds(a: string, b: string): number {
  const families = compareText(familyOf(a), familyOf(b));
  return families === 0 ? numberOf(a) - numberOf(b) : families;
}

function numberOf(id: string): number {
  return Number(id.slice(familyOf(id).length).replace("-", ""));
}

// Not `localeCompare`: the order must be the same on every machine.
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
