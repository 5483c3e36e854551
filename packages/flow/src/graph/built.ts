import type { State } from "./node.ts";

/**
 * Freezes the containers that zod has just built, so a node that mutates its state fails loudly instead of making a
 * resumed run differ. What zod passed through untouched is the caller's own and stays as it is.
 *
 * Answers whether nobody can change any of it from now on: it is of built lists and objects down to leaves.
 */
export function freezeBuilt(built: unknown, from: unknown): boolean {
  if (typeof built === "function") return false;
  if (typeof built !== "object" || built === null) return true;
  if (built === from || Object.isFrozen(built)) return false;
  const prototype: unknown = Object.getPrototypeOf(built);
  const source = typeof from === "object" && from !== null ? (from as State) : {};
  let isStill = true;
  if (Array.isArray(built)) {
    for (let index = 0; index < built.length; index++)
      if (!freezeBuilt(built[index], source[index])) isStill = false;
    isStill &&= prototype === Array.prototype;
  } else {
    if (prototype !== Object.prototype) return false;
    for (const key of Object.keys(built))
      if (!freezeBuilt((built as State)[key], source[key])) isStill = false;
  }
  Object.freeze(built);
  return isStill;
}

/** Freezes of a decoded value what zod would have built, had it read it: a resumed node gets what a fresh one gets. */
export function freezeOwn(own: unknown, built: unknown): void {
  if (typeof own !== "object" || own === null || own === built || Object.isFrozen(own)) return;
  const like = typeof built === "object" && built !== null ? built : {};
  const plain = Array.isArray(own) || Object.getPrototypeOf(own) === Object.prototype;
  if (!plain) return;
  for (const [key, part] of Object.entries(own)) freezeOwn(part, (like as State)[key]);
  Object.freeze(own);
}
