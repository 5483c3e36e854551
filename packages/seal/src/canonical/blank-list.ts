import { methodOf } from "../platform.ts";
import type { Json } from "./row.ts";

const fill = methodOf<(self: unknown[], value: Json) => unknown>(Array.prototype, "fill");
const listClass = Array;

/** A list whose places all exist: writing to one then can't meet a setter on a prototype. */
export function blankList(length: number): Json[] {
  const list = new listClass<Json>(length);
  fill(list, null);
  return list;
}
