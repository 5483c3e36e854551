/**
 * Whether two pieces of data read the same; what is neither plain nor an array has to be the same
 * object, or a date.
 */
export function sameData(one: unknown, other: unknown): boolean {
  return same(one, other, 0);
}

/** Past this, data is called different: the caller then only writes down more than it had to. */
const depthMax = 64;

function same(one: unknown, other: unknown, depth: number): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return false;
  if (depth > depthMax || Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  if (one instanceof Date) return one.getTime() === (other as Date).getTime();
  if (!Array.isArray(one) && Object.getPrototypeOf(one) !== Object.prototype) return false;
  return sameMembers(one as Members, other as Members, depth);
}

type Members = Readonly<Record<string, unknown>>;

function sameMembers(one: Members, other: Members, depth: number): boolean {
  const names = set(one);
  if (names.length !== set(other).length) return false;
  return names.every(
    (name) => Object.hasOwn(other, name) && same(one[name], other[name], depth + 1),
  );
}

/** A property that is `undefined` is one that is not there (FLOW-31). */
function set(members: Members): readonly string[] {
  return Object.keys(members).filter((name) => members[name] !== undefined);
}

/**
 * Whether `value` is still what `copy` was taken of (`copyOpen`). `false` also where that can't be
 * told without a digest: what the copy shares with the original may have changed in both.
 */
export function isUnchanged(copy: unknown, value: unknown, depth = 0): boolean {
  if (typeof copy !== "object" || copy === null) return Object.is(copy, value);
  if (typeof value !== "object" || value === null || copy === value || depth > depthMax)
    return false;
  const prototype: unknown = Object.getPrototypeOf(copy);
  if (prototype !== Object.getPrototypeOf(value)) return false;
  if (prototype !== Object.prototype && prototype !== Array.prototype) return false;
  const [from, to] = [copy as Members, value as Members];
  const names = Object.keys(from);
  if (names.length !== Object.keys(to).length) return false;
  return names.every(
    (name) => Object.hasOwn(to, name) && isUnchanged(from[name], to[name], depth + 1),
  );
}

/**
 * Whether something was filled in: `made` has a property or element, at any depth, that `value` has
 * not.
 */
export function filledIn(value: unknown, made: unknown): boolean {
  if (typeof made !== "object" || made === null) return value === undefined && made !== undefined;
  if (typeof value !== "object" || value === null) return true;
  const from = value as Members;
  return Object.entries(made).some(([name, item]) => filledIn(from[name], item));
}
